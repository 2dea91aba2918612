// iadd: integer additions of three numbers (IADD3), a Fibonacci series with a constant added to each term.

#include "microbenchmark.h"

struct Iadd {
    using Value = uint32_t;
    static constexpr const char* kName = "iadd";
    // In the last term alone, a flip of a high bit would be lost where its Fibonacci coefficient is even; in one of the
    // last two it is odd.
    static constexpr int kChain = 60, kValues = kChain, kChecked = 2;

    uint32_t first, second, constant;

    // The assembler makes every other sum of two an IMAD, to keep two pipelines busy, but not of three.
    static __host__ __device__ uint32_t add(uint32_t x, uint32_t y, uint32_t z) {
#ifdef __CUDA_ARCH__
        uint32_t sum;
        asm volatile("{ .reg .u32 part; add.u32 part, %1, %2; add.u32 %0, part, %3; }"
                     : "=r"(sum) : "r"(x), "r"(y), "r"(z));
        return sum;
#else
        return x + y + z;
#endif
    }

    __host__ __device__ uint32_t at(int i, uint32_t carry, const uint32_t* values, uint32_t) const {
        return i == 0   ? add(carry, carry, first)
               : i == 1 ? add(values[0], carry, second)
                        : add(values[i - 1], values[i - 2], constant);
    }

    void close(uint32_t carry) {
        first -= 2 * carry;
        second -= carry;
    }

    __device__ void prepare() const {}
};

int main(int argc, char** argv) { return run(Chain<Iadd>({0x2545f491u, 0x9e3779b9u, 0x7f4a7c15u}), argc, argv); }
