// PTX in the source: operands of all kinds, predicates, carries, memory, branches, special registers.

#include "check.h"

__device__ unsigned popcount_of_and(unsigned a, unsigned b)
{
    unsigned result;
    asm("{\n\t.reg .b32 both;\n\tand.b32 both, %1, %2;\n\tpopc.b32 %0, both;\n\t}" : "=r"(result) : "r"(a), "r"(b));
    return result;
}

__device__ int clamp(int x, int low, int high)
{
    asm("{\n\t.reg .pred p;\n\t"
        "setp.lt.s32 p, %0, %1;\n\t@p mov.s32 %0, %1;\n\t"
        "setp.gt.s32 p, %0, %2;\n\t@p mov.s32 %0, %2;\n\t}"
        : "+r"(x)
        : "r"(low), "r"(high));
    return x;
}

__device__ unsigned long long add_wide(unsigned a, unsigned long long b)
{
    unsigned long long result;
    asm("mad.wide.u32 %0, %1, 3, %2;" : "=l"(result) : "r"(a), "l"(b));
    return result;
}

__device__ int sum_to(int n)
{
    int sum;
    asm("{\n\t.reg .pred more;\n\t.reg .s32 i;\n\t"
        "mov.s32 %0, 0;\n\tmov.s32 i, %1;\n"
        "again%=:\n\t"
        "add.s32 %0, %0, i;\n\tsub.s32 i, i, 1;\n\tsetp.gt.s32 more, i, 0;\n\t@more bra again%=;\n\t}"
        : "=&r"(sum)
        : "r"(n));
    return sum;
}

__device__ float exchange(float* place, float value)
{
    float old;
    asm volatile("ld.global.f32 %0, [%1];\n\tst.global.f32 [%1], %2;" : "=&f"(old) : "l"(place), "f"(value) : "memory");
    return old;
}

__device__ double fused(double a, double b, double c)
{
    double result;
    asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(result) : "d"(a), "d"(b), "d"(c));
    return result;
}

__global__ void run(int* ints, unsigned long long* longs, float* floats, double* doubles)
{
    unsigned i, lane;
    asm("mov.u32 %0, %%tid.x;" : "=r"(i));
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    int* to = ints + 4 * i;
    to[0] = static_cast<int>(popcount_of_and(i * 77, 0xf0f0f));
    to[1] = clamp(static_cast<int>(i) - 20, -5, 30);
    to[2] = sum_to(static_cast<int>(i) + 1);
    to[3] = static_cast<int>(lane);
    longs[i] = add_wide(0xffffffffu - i, 1ull << 40);
    floats[64 + i] = exchange(&floats[i], 2.0f * i);
    doubles[i] = fused(i, 0.5, 1.0);
}

int main()
{
    const int n = 64;
    std::vector<float> start(2 * n);
    for (int i = 0; i < n; ++i) start[i] = static_cast<float>(i) + 0.25f;
    int* ints = upload(std::vector<int>(4 * n));
    unsigned long long* longs = upload(std::vector<unsigned long long>(n));
    float* floats = upload(start);
    double* doubles = upload(std::vector<double>(n));
    run<<<1, n>>>(ints, longs, floats, doubles);
    CHECK(cudaDeviceSynchronize());
    std::vector<int> a = download(ints, 4 * n);
    std::vector<unsigned long long> b = download(longs, n);
    std::vector<float> c = download(floats, 2 * n);
    std::vector<double> d = download(doubles, n);
    bool integers = true, branches = true, memory = true, specials = true;
    for (int i = 0; i < n; ++i) {
        integers &= a[4 * i] == __builtin_popcount(i * 77 & 0xf0f0f);
        integers &= b[i] == (0xffffffffull - i) * 3 + (1ull << 40) && d[i] == i * 0.5 + 1;
        branches &= a[4 * i + 1] == (i - 20 < -5 ? -5 : i - 20 > 30 ? 30 : i - 20) && a[4 * i + 2] == (i + 1) * (i + 2) / 2;
        specials &= a[4 * i + 3] == i % 32;
        memory &= c[i] == 2.0f * i && c[n + i] == start[i];
    }
    expect("arithmetic", integers);
    expect("predicates and branches", branches);
    expect("memory", memory);
    expect("special registers", specials);
    return verdict();
}
