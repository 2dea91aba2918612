// reduce: statistics of a detector's readings, three reductions over one array of 12-bit samples.
//
// `summarise` walks the samples with a grid-stride loop. Integers (sum, smallest, largest) are combined within a warp
// by shuffles and between warps by atomics, where the order does not matter. Energies (a calibration applied in double
// precision; their sum and the sum of their squares) are combined in a fixed order, so that the result has the same
// bits every time: shuffles within a warp, shared memory within a block, one partial result per block; `finish` then
// adds up the partial results and makes mean and standard deviation of them. `histogram` counts the samples in shared
// memory, with atomics, and adds the counts of each block to the whole.

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                                           \
    do {                                                                                                           \
        const cudaError_t status = (call);                                                                         \
        if (status != cudaSuccess) {                                                                               \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status));        \
            std::exit(3);                                                                                          \
        }                                                                                                          \
    } while (0)

constexpr int kWarp = 32;
constexpr int kBlock = 256;
constexpr int kBlocks = 24;
constexpr int kSampleBits = 12;
constexpr unsigned kAll = 0xffffffffu;              // every lane of the warp
constexpr double kGain = 0.7314, kOffset = -41.25;  // from a sample to an energy in keV

struct Totals {
    unsigned sum, smallest, largest;
};

__device__ double2 warp_sum(double2 value) {
    for (int distance = kWarp / 2; distance > 0; distance /= 2) {
        value.x += __shfl_down_sync(kAll, value.x, distance);
        value.y += __shfl_down_sync(kAll, value.y, distance);
    }
    return value;
}

__global__ void __launch_bounds__(kBlock)
summarise(const uint16_t* __restrict__ samples, int count, Totals* totals, double2* partials) {
    __shared__ double2 of_warp[kBlock / kWarp];

    unsigned sum = 0, smallest = UINT_MAX, largest = 0;
    double2 energy = {0.0, 0.0};
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += gridDim.x * blockDim.x) {
        const unsigned sample = samples[i];
        sum += sample;
        smallest = min(smallest, sample);
        largest = max(largest, sample);
        const double kev = kGain * sample + kOffset;
        energy.x += kev;
        energy.y += kev * kev;
    }

    for (int mask = kWarp / 2; mask > 0; mask /= 2) {
        sum += __shfl_xor_sync(kAll, sum, mask);
        smallest = min(smallest, __shfl_xor_sync(kAll, smallest, mask));
        largest = max(largest, __shfl_xor_sync(kAll, largest, mask));
    }
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    energy = warp_sum(energy);
    if (lane == 0) {
        atomicAdd(&totals->sum, sum);
        atomicMin(&totals->smallest, smallest);
        atomicMax(&totals->largest, largest);
        of_warp[warp] = energy;
    }
    __syncthreads();
    if (warp == 0) {
        energy = warp_sum(lane < kBlock / kWarp ? of_warp[lane] : double2{0.0, 0.0});
        if (lane == 0) {
            partials[blockIdx.x] = energy;
        }
    }
}

// One warp. result[0] is the mean, result[1] the standard deviation.
__global__ void finish(const double2* __restrict__ partials, int blocks, int count, double* result) {
    double2 energy = {0.0, 0.0};
    for (int i = static_cast<int>(threadIdx.x); i < blocks; i += kWarp) {
        energy.x += partials[i].x;
        energy.y += partials[i].y;
    }
    energy = warp_sum(energy);
    if (threadIdx.x == 0) {
        const double mean = energy.x / count;
        result[0] = mean;
        result[1] = sqrt(fmax(energy.y / count - mean * mean, 0.0));
    }
}

__global__ void histogram(const uint16_t* __restrict__ samples, int count, unsigned* counts, int bins) {
    extern __shared__ unsigned local[];
    for (int bin = static_cast<int>(threadIdx.x); bin < bins; bin += blockDim.x) {
        local[bin] = 0;
    }
    __syncthreads();
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[(samples[i] * bins) >> kSampleBits], 1u);
    }
    __syncthreads();
    for (int bin = static_cast<int>(threadIdx.x); bin < bins; bin += blockDim.x) {
        if (local[bin] != 0) {
            atomicAdd(&counts[bin], local[bin]);
        }
    }
}

// A well-mixed 32-bit hash: the input is a function of the index alone.
static uint32_t hash32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

// FNV-1a over bytes, from the sum of the bytes before.
static uint64_t checksum(const void* data, size_t bytes, uint64_t sum = 0xcbf29ce484222325ull) {
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int count = argc > 1 ? parse(argv[1], 1, 1 << 20) : 50021;
    const int bins = argc > 2 ? parse(argv[2], 1, 1 << kSampleBits) : 100;
    if (argc > 3 || count < 0 || bins < 0) {
        std::fprintf(stderr, "usage: %s [samples 1..1048576] [bins 1..4096]\n", argv[0]);
        return 2;
    }

    // A line on a broad background: one sample in four is near 2600, the rest leans towards small values.
    std::vector<uint16_t> samples(count);
    for (int i = 0; i < count; ++i) {
        const uint32_t draw = hash32(static_cast<uint32_t>(i)), other = hash32(~draw);
        const uint32_t line = 2500 + (other & 63) + (other >> 8 & 63) + (other >> 16 & 63);
        const uint32_t background = ((draw >> 2 & 0xfff) * (other & 0xfff)) >> kSampleBits;
        samples[i] = static_cast<uint16_t>(draw % 4 == 0 ? line : background);
    }

    cudaDeviceProp device;
    CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
    const size_t histogram_bytes = bins * sizeof(unsigned);
    if (device.sharedMemPerBlock < histogram_bytes) {
        std::fprintf(stderr, "%d bins do not fit into the %zu bytes of shared memory of a block\n", bins,
                     device.sharedMemPerBlock);
        return 3;
    }

    uint16_t* device_samples = nullptr;
    Totals* device_totals = nullptr;
    double2* partials = nullptr;
    double* device_energy = nullptr;
    unsigned* device_counts = nullptr;
    Totals totals = {0, UINT_MAX, 0};
    CUDA_CHECK(cudaMalloc(&device_samples, count * sizeof(uint16_t)));
    CUDA_CHECK(cudaMalloc(&device_totals, sizeof totals));
    CUDA_CHECK(cudaMalloc(&partials, kBlocks * sizeof(double2)));
    CUDA_CHECK(cudaMalloc(&device_energy, 2 * sizeof(double)));
    CUDA_CHECK(cudaMalloc(&device_counts, histogram_bytes));
    CUDA_CHECK(cudaMemcpy(device_samples, samples.data(), count * sizeof(uint16_t), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_totals, &totals, sizeof totals, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(device_counts, 0, histogram_bytes));

    summarise<<<kBlocks, kBlock>>>(device_samples, count, device_totals, partials);
    finish<<<1, kWarp>>>(partials, kBlocks, count, device_energy);
    histogram<<<kBlocks, kBlock, histogram_bytes>>>(device_samples, count, device_counts, bins);
    CUDA_CHECK(cudaGetLastError());

    double energy[2];
    std::vector<unsigned> counts(bins);
    CUDA_CHECK(cudaMemcpy(&totals, device_totals, sizeof totals, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(energy, device_energy, sizeof energy, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(counts.data(), device_counts, histogram_bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_samples));
    CUDA_CHECK(cudaFree(device_totals));
    CUDA_CHECK(cudaFree(partials));
    CUDA_CHECK(cudaFree(device_energy));
    CUDA_CHECK(cudaFree(device_counts));

    Totals expected = {0, UINT_MAX, 0};
    std::vector<unsigned> expected_counts(bins);
    double mean = 0.0, variance = 0.0;
    for (const unsigned sample : samples) {
        expected = {expected.sum + sample, std::min(expected.smallest, sample), std::max(expected.largest, sample)};
        expected_counts[sample * bins >> kSampleBits] += 1;
        mean += (kGain * sample + kOffset) / count;
    }
    for (const unsigned sample : samples) {
        variance += std::pow(kGain * sample + kOffset - mean, 2) / count;
    }
    // The variance is what is left of two sums that nearly cancel when the samples are few: its error scales with them.
    const auto close = [](double a, double b, double scale) { return std::fabs(a - b) <= 1e-9 * (1.0 + scale); };
    const bool pass = totals.sum == expected.sum && totals.smallest == expected.smallest &&
                      totals.largest == expected.largest && counts == expected_counts &&
                      close(energy[0], mean, std::fabs(mean)) &&
                      close(energy[1] * energy[1], variance, mean * mean + variance);
    uint64_t sum = checksum(&totals, sizeof totals);
    sum = checksum(counts.data(), histogram_bytes, checksum(energy, sizeof energy, sum));
    std::printf("reduce %d samples: sum %u, range %u..%u, mean %.6f keV, deviation %.6f keV, checksum 0x%016llx, %s\n",
                count, totals.sum, totals.smallest, totals.largest, energy[0], energy[1],
                static_cast<unsigned long long>(sum), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
