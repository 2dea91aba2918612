// ffma: fused single-precision multiply-adds (FFMA), products summed up. All sums lie in [1, 2) and all products are
// multiples of 2^-23 (their factors have at most 12 significant bits), so every sum is exact, and a flip of the lowest
// bit is not rounded away.

#include "microbenchmark.h"

struct Ffma {
    using Value = float;
    static constexpr const char* kName = "ffma";
    static constexpr int kChain = 60, kValues = kChain, kChecked = 1;

    float first, x, y[4];

    static __host__ __device__ float multiply_add(float x, float y, float z) {
#ifdef __CUDA_ARCH__
        float sum;
        asm volatile("fma.rn.f32 %0, %1, %2, %3;" : "=f"(sum) : "f"(x), "f"(y), "f"(z));
        return sum;
#else
        return std::fmaf(x, y, z);
#endif
    }

    __host__ __device__ float at(int i, float carry, const float* values, uint32_t) const {
        return multiply_add(x, i == 0 ? first : y[i % 4], i == 0 ? carry : values[i - 1]);
    }

    void close(float carry) { first -= carry / x; }

    __device__ void prepare() const {}
};

int main(int argc, char** argv) {
    const float unit = 1.0f / 4096.0f;
    const Ffma seeded = {3225 * unit, 5462 * unit, {-612 * unit, 1133 * unit, -937 * unit, 524 * unit}};
    return run(Chain<Ffma>(seeded), argc, argv);
}
