// lds: loads from shared memory (LDS). Each lane loads a column of words, all of them different, and sums them up in
// pairs. The last word of a column makes its sum that of all columns.

#include "microbenchmark.h"

struct Lds {
    using Value = uint32_t;
    static constexpr const char* kName = "lds";
    static constexpr int kChain = 48, kValues = kChain + kChain / 2, kChecked = 1, kLanes = 32;

    uint32_t factor, total;

    __host__ __device__ uint32_t word(uint32_t row, uint32_t lane) const {
        const uint32_t last = kChain - 1;
        return row < last ? (row * kLanes + lane + 1) * factor
                          : total - last * ((last - 1) * kLanes / 2 + lane + 1) * factor;
    }

    static __device__ volatile uint32_t* words() {
        __shared__ uint32_t words[kChain * kLanes];
        return words;
    }

    __device__ void prepare() const {
        for (uint32_t i = threadIdx.x; i < kChain * kLanes; i += blockDim.x) {
            words()[i] = word(i / kLanes, i % kLanes);
        }
        __syncthreads();
    }

    __host__ __device__ uint32_t load(uint32_t row, uint32_t lane) const {
#ifdef __CUDA_ARCH__
        return words()[row * kLanes + lane];
#else
        return word(row, lane);
#endif
    }

    __host__ __device__ uint32_t at(int i, uint32_t, const uint32_t* values, uint32_t thread) const {
        if (i < kChain) {
            return load(i, thread % kLanes);
        }
        const int pair = 2 * (i - kChain);
        const uint32_t sum = values[pair] + values[pair + 1];
        return i == kChain ? sum : values[i - 1] + sum;
    }

    void close(uint32_t) {}
};

int main(int argc, char** argv) { return run(Chain<Lds>({0x9e3779b1u, 0x2545f491u}), argc, argv); }
