// imad: integer multiply-adds (IMAD), a linear congruential series. Its multiplier is odd, so no flip is lost.

#include "microbenchmark.h"

struct Imad {
    using Value = uint32_t;
    static constexpr const char* kName = "imad";
    static constexpr int kChain = 60, kValues = kChain, kChecked = 1;

    uint32_t first, multiplier, constant;

    static __host__ __device__ uint32_t multiply_add(uint32_t x, uint32_t y, uint32_t z) {
#ifdef __CUDA_ARCH__
        uint32_t sum;
        asm volatile("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(x), "r"(y), "r"(z));
        return sum;
#else
        return x * y + z;
#endif
    }

    __host__ __device__ uint32_t at(int i, uint32_t carry, const uint32_t* values, uint32_t) const {
        return multiply_add(i == 0 ? carry : values[i - 1], multiplier, i == 0 ? first : constant);
    }

    void close(uint32_t carry) { first -= carry * multiplier; }

    __device__ void prepare() const {}
};

int main(int argc, char** argv) { return run(Chain<Imad>({0x2545f491u, 0x9e3779b1u, 0x7f4a7c15u}), argc, argv); }
