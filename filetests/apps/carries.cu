// Integers of 256 bits by PTX with carries: sums, differences, products.

#include "check.h"

struct Number {
    unsigned word[8];
};

__device__ Number add(const Number& a, const Number& b)
{
    Number r;
    asm("add.cc.u32 %0, %1, %2;" : "=r"(r.word[0]) : "r"(a.word[0]), "r"(b.word[0]));
#pragma unroll
    for (int i = 1; i < 7; ++i)
        asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(r.word[i]) : "r"(a.word[i]), "r"(b.word[i]));
    asm volatile("addc.u32 %0, %1, %2;" : "=r"(r.word[7]) : "r"(a.word[7]), "r"(b.word[7]));
    return r;
}

__device__ Number subtract(const Number& a, const Number& b)
{
    Number r;
    asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(r.word[0]) : "r"(a.word[0]), "r"(b.word[0]));
#pragma unroll
    for (int i = 1; i < 7; ++i)
        asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(r.word[i]) : "r"(a.word[i]), "r"(b.word[i]));
    asm volatile("subc.u32 %0, %1, %2;" : "=r"(r.word[7]) : "r"(a.word[7]), "r"(b.word[7]));
    return r;
}

// The two low words of a by those of b, in four words.
__device__ Number multiply(const Number& a, const Number& b)
{
    Number r = {};
    asm volatile("mul.lo.u32 %0, %4, %6;\n\t"
                 "mul.hi.u32 %1, %4, %6;\n\t"
                 "mad.lo.cc.u32 %1, %5, %6, %1;\n\t"
                 "madc.hi.u32 %2, %5, %6, 0;\n\t"
                 "mad.lo.cc.u32 %1, %4, %7, %1;\n\t"
                 "madc.hi.cc.u32 %2, %4, %7, %2;\n\t"
                 "addc.u32 %3, 0, 0;\n\t"
                 "mad.lo.cc.u32 %2, %5, %7, %2;\n\t"
                 "madc.hi.u32 %3, %5, %7, %3;"
                 : "=&r"(r.word[0]), "=&r"(r.word[1]), "=&r"(r.word[2]), "=&r"(r.word[3])
                 : "r"(a.word[0]), "r"(a.word[1]), "r"(b.word[0]), "r"(b.word[1]));
    return r;
}

__global__ void run(const Number* a, const Number* b, Number* out, int n)
{
    int i = threadIdx.x;
    if (i >= n) return;
    Number x = a[i], y = b[i];
    out[3 * i] = add(x, y);
    out[3 * i + 1] = subtract(x, y);
    out[3 * i + 2] = multiply(x, y);
}

int main()
{
    const int n = 60;
    std::vector<Number> a(n), b(n);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < 8; ++k) {
            a[i].word[k] = (i + k) % 4 ? (i * 8 + k + 1) * 2654435761u : 0xffffffffu;
            b[i].word[k] = (i * k) % 3 ? (i + 5 * k + 1) * 2246822519u : (i & 1);
        }
    Number* out = upload(std::vector<Number>(3 * n));
    run<<<1, 64>>>(upload(a), upload(b), out, n);
    CHECK(cudaDeviceSynchronize());
    std::vector<Number> found = download(out, 3 * n);
    bool sums = true, differences = true, products = true;
    for (int i = 0; i < n; ++i) {
        long long carry = 0, borrow = 0;
        for (int k = 0; k < 8; ++k) {
            long long x = a[i].word[k], y = b[i].word[k];
            carry += x + y;
            borrow += x - y;
            sums &= found[3 * i].word[k] == static_cast<unsigned>(carry);
            differences &= found[3 * i + 1].word[k] == static_cast<unsigned>(borrow);
            carry >>= 32;
            borrow >>= 32;
        }
        auto low = [](const Number& x) { return static_cast<unsigned long long>(x.word[1]) << 32 | x.word[0]; };
        unsigned __int128 product = static_cast<unsigned __int128>(low(a[i])) * low(b[i]);
        for (int k = 0; k < 4; ++k) products &= found[3 * i + 2].word[k] == static_cast<unsigned>(product >> (32 * k));
    }
    expect("sums", sums);
    expect("differences", differences);
    expect("products", products);
    return verdict();
}
