// montecarlo: fair prices of European call options by simulation, one block for each option.
//
// Under the risk-neutral measure the asset ends at spot * exp((rate - volatility^2 / 2) T + volatility * sqrt(T) * z)
// with z from the normal distribution; a call pays what that exceeds the strike by, or nothing. A thread adds up the
// pay-offs of its share of the paths and their squares; the block adds up those of its threads by a tree in shared
// memory, of which the last warp does the lower levels on its own. The host makes a price and the half-width of its
// 95 % confidence interval of the two sums, and compares with the formula of Black and Scholes.

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
constexpr double kRate = 0.06, kVolatility = 0.10;

struct Option {
    float spot, strike;
    float drift;      // (rate - volatility^2 / 2) T
    float deviation;  // volatility * sqrt(T)
};

__global__ void __launch_bounds__(kBlock)
simulate(const Option* __restrict__ options, const float* __restrict__ normals, int paths, float* sums,
         float* squares) {
    __shared__ float sum[kBlock], square[kBlock];

    const int thread = static_cast<int>(threadIdx.x);
    const Option option = options[blockIdx.x];
    float own_sum = 0.0f, own_square = 0.0f;
    for (int path = thread; path < paths; path += kBlock) {
        const float at_end = option.spot * expf(option.drift + option.deviation * normals[path]);
        const float payoff = fmaxf(at_end - option.strike, 0.0f);
        own_sum += payoff;
        own_square += payoff * payoff;
    }
    sum[thread] = own_sum;
    square[thread] = own_square;

    for (int half = kBlock / 2; half > kWarp; half /= 2) {
        __syncthreads();
        if (thread < half) {
            sum[thread] += sum[thread + half];
            square[thread] += square[thread + half];
        }
    }
    __syncthreads();
    if (thread < kWarp) {
        // All lanes go on to the end: the upper ones add up what nobody needs.
        for (int half = kWarp; half > 0; half /= 2) {
            const float other_sum = sum[thread + half];
            const float other_square = square[thread + half];
            __syncwarp();
            sum[thread] += other_sum;
            square[thread] += other_square;
            __syncwarp();
        }
        if (thread == 0) {
            sums[blockIdx.x] = sum[0];
            squares[blockIdx.x] = square[0];
        }
    }
}

// A well-mixed 32-bit hash, and the same as a number in [0, 1): the input is a function of the index alone.
static uint32_t hash32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

static double noise(uint32_t x) { return hash32(x) * (1.0 / 4294967296.0); }

// FNV-1a over bytes, from the sum of the bytes before.
static uint64_t checksum(const void* data, size_t bytes, uint64_t sum = 0xcbf29ce484222325ull) {
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

static double normal_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

// The point below which a normal variable lies with a given probability, by bisection.
static double normal_quantile(double probability) {
    double low = -9.0, high = 9.0;
    for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        (normal_below(middle) < probability ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

struct Contract {
    double spot, strike, years;
};

// Prices in whole cents, from a year to ten.
static Contract contract(int index) {
    const uint32_t key = 4 * static_cast<uint32_t>(index);
    return {500 * 0.01 + std::floor(4500 * noise(key)) * 0.01, 1000 * 0.01 + std::floor(1500 * noise(key + 1)) * 0.01,
            1.0 + std::floor(10 * noise(key + 2))};
}

static double black_scholes(const Contract& c) {
    const double deviation = kVolatility * std::sqrt(c.years);
    const double d1 =
        (std::log(c.spot / c.strike) + (kRate + 0.5 * kVolatility * kVolatility) * c.years) / deviation;
    return c.spot * normal_below(d1) - c.strike * std::exp(-kRate * c.years) * normal_below(d1 - deviation);
}

// The sum of the pay-offs of an option, in double precision.
static double reference(const Option& option, const std::vector<float>& normals) {
    double sum = 0.0;
    for (const float z : normals) {
        sum += std::fmax(option.spot * std::exp(option.drift + static_cast<double>(option.deviation) * z) -
                             option.strike, 0.0);
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
    const int count = argc > 1 ? parse(argv[1], 1, 4096) : 32;
    const int paths = argc > 2 ? parse(argv[2], kBlock, 1 << 18) : 4096;
    if (argc > 3 || count < 0 || paths < 0) {
        std::fprintf(stderr, "usage: %s [options 1..4096] [paths 256..262144]\n", argv[0]);
        return 2;
    }

    std::vector<Option> options(count);
    for (int i = 0; i < count; ++i) {
        const Contract c = contract(i);
        options[i] = {static_cast<float>(c.spot), static_cast<float>(c.strike),
                      static_cast<float>((kRate - 0.5 * kVolatility * kVolatility) * c.years),
                      static_cast<float>(kVolatility * std::sqrt(c.years))};
    }
    // One point in each of as many equally probable intervals as there are paths.
    std::vector<float> normals(paths);
    for (int i = 0; i < paths; ++i) {
        normals[i] = static_cast<float>(normal_quantile((i + 0.25 + 0.5 * noise(~static_cast<uint32_t>(i))) / paths));
    }

    Option* device_options = nullptr;
    float* device_normals = nullptr;
    float* device_sums = nullptr;
    float* device_squares = nullptr;
    const size_t bytes = count * sizeof(float);
    CUDA_CHECK(cudaMalloc(&device_options, count * sizeof(Option)));
    CUDA_CHECK(cudaMalloc(&device_normals, paths * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&device_sums, bytes));
    CUDA_CHECK(cudaMalloc(&device_squares, bytes));
    CUDA_CHECK(cudaMemcpy(device_options, options.data(), count * sizeof(Option), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_normals, normals.data(), paths * sizeof(float), cudaMemcpyHostToDevice));

    simulate<<<count, kBlock>>>(device_options, device_normals, paths, device_sums, device_squares);
    CUDA_CHECK(cudaGetLastError());

    std::vector<float> sums(count), squares(count);
    CUDA_CHECK(cudaMemcpy(sums.data(), device_sums, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(squares.data(), device_squares, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_options));
    CUDA_CHECK(cudaFree(device_normals));
    CUDA_CHECK(cudaFree(device_sums));
    CUDA_CHECK(cudaFree(device_squares));

    // How many times the difference from the exact price fits into the confidence, on average over the options.
    double reserve = 0.0, narrowest = 1.0;
    bool pass = true;
    for (int i = 0; i < count; ++i) {
        const Contract c = contract(i);
        const double mean = static_cast<double>(sums[i]) / paths;
        const double variance = (static_cast<double>(squares[i]) - sums[i] * mean) / (paths - 1);
        const double discount = std::exp(-kRate * c.years);
        const double confidence = discount * 1.96 * std::sqrt(std::fmax(variance, 0.0) / paths);
        const double difference = std::fabs(discount * mean - black_scholes(c));
        reserve += (difference > 1e-6 ? confidence / difference : 0.0) / count;
        narrowest = mean > 0.0 ? std::fmin(narrowest, confidence / (discount * mean)) : narrowest;
        const double expected = reference(options[i], normals);
        pass = pass && std::fabs(sums[i] - expected) <= 1e-5 * (paths * 1e-3 + expected);  // a NaN does not pass
    }
    pass = pass && reserve > 1.0;
    std::printf("montecarlo %d options, %d paths: average reserve %.1f, narrowest confidence %.4f, checksum 0x%016llx, "
                "%s\n", count, paths, reserve, narrowest,
                static_cast<unsigned long long>(checksum(squares.data(), bytes, checksum(sums.data(), bytes))),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
