// blackscholes: fair prices of European options by the formula of Black and Scholes.
//
// For a share at `spot`, a strike price, years until expiry, a riskless rate r and a volatility s:
//
//     d1 = (ln(spot / strike) + (r + s^2 / 2) years) / (s sqrt(years)),   d2 = d1 - s sqrt(years)
//     call = spot N(d1) - strike exp(-r years) N(d2)
//     put  = strike exp(-r years) N(-d2) - spot N(-d1)
//
// N is the cumulative normal distribution, here by the polynomial 26.2.17 of Abramowitz and Stegun (error below
// 7.5e-8); the host checks against the error function in double precision. A grid of fixed size walks the options with
// a stride. Copies and kernel run in two streams, ordered by events.

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

constexpr int kBlock = 128;
constexpr int kBlocks = 20;
constexpr float kRate = 0.02f;
constexpr float kVolatility = 0.30f;

__device__ float cumulative_normal(float d) {
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    const float polynomial =
        k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.39894228040f * expf(-0.5f * d * d) * polynomial;
    return d > 0.0f ? 1.0f - tail : tail;
}

__global__ void __launch_bounds__(kBlock)
price(const float* __restrict__ spots, const float* __restrict__ strikes, const float* __restrict__ years,
      float* __restrict__ calls, float* __restrict__ puts, int options, float rate, float volatility) {
    const int stride = static_cast<int>(gridDim.x * blockDim.x);
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < options; i += stride) {
        const float spot = spots[i];
        const float strike = strikes[i];
        const float time = years[i];

        const float deviation = volatility * sqrtf(time);
        const float d1 = (logf(spot / strike) + (rate + 0.5f * volatility * volatility) * time) / deviation;
        const float d2 = d1 - deviation;

        const float n1 = cumulative_normal(d1);
        const float n2 = cumulative_normal(d2);

        const float discounted = strike * expf(-rate * time);
        calls[i] = spot * n1 - discounted * n2;
        puts[i] = discounted * (1.0f - n2) - spot * (1.0f - n1);
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

static double exact_normal(double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); }

// Rounding grows with the prices that are subtracted; a NaN is not close.
static bool close(float value, double expected, double scale) { return std::fabs(value - expected) <= 1e-6 * scale; }

static bool check(float spot, float strike, float time, float call, float put) {
    const double deviation = kVolatility * std::sqrt(static_cast<double>(time));
    const double drift = kRate + 0.5 * kVolatility * kVolatility;
    const double d1 = (std::log(static_cast<double>(spot) / strike) + drift * time) / deviation, d2 = d1 - deviation;
    const double discounted = strike * std::exp(-static_cast<double>(kRate) * time);
    const double scale = spot + discounted;
    return close(call, spot * exact_normal(d1) - discounted * exact_normal(d2), scale) &&
           close(put, discounted * exact_normal(-d2) - spot * exact_normal(-d1), scale);
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int options = argc > 1 ? parse(argv[1], 1, 1 << 20) : 10000;
    if (argc > 2 || options < 0) {
        std::fprintf(stderr, "usage: %s [options 1..1048576]\n", argv[0]);
        return 2;
    }

    // Prices in whole cents, times in whole days.
    std::vector<float> spots(options), strikes(options), years(options), calls(options), puts(options);
    for (int i = 0; i < options; ++i) {
        const uint32_t draw = hash32(static_cast<uint32_t>(i)), other = hash32(~draw);
        spots[i] = static_cast<float>(500 + draw % 2501) / 100.0f;
        strikes[i] = static_cast<float>(100 + (draw >> 16) % 9901) / 100.0f;
        years[i] = static_cast<float>(90 + other % 3561) / 365.0f;
    }

    cudaStream_t copies, compute;
    cudaEvent_t uploaded, priced;
    CUDA_CHECK(cudaStreamCreate(&copies));
    CUDA_CHECK(cudaStreamCreate(&compute));
    CUDA_CHECK(cudaEventCreateWithFlags(&uploaded, cudaEventDisableTiming));
    CUDA_CHECK(cudaEventCreateWithFlags(&priced, cudaEventDisableTiming));

    const size_t bytes = options * sizeof(float);
    float *device_spots, *device_strikes, *device_years, *device_calls, *device_puts;
    for (float** array : {&device_spots, &device_strikes, &device_years, &device_calls, &device_puts}) {
        CUDA_CHECK(cudaMalloc(array, bytes));
    }
    CUDA_CHECK(cudaMemcpyAsync(device_spots, spots.data(), bytes, cudaMemcpyHostToDevice, copies));
    CUDA_CHECK(cudaMemcpyAsync(device_strikes, strikes.data(), bytes, cudaMemcpyHostToDevice, copies));
    CUDA_CHECK(cudaMemcpyAsync(device_years, years.data(), bytes, cudaMemcpyHostToDevice, copies));
    CUDA_CHECK(cudaEventRecord(uploaded, copies));

    CUDA_CHECK(cudaStreamWaitEvent(compute, uploaded, 0));
    price<<<kBlocks, kBlock, 0, compute>>>(device_spots, device_strikes, device_years, device_calls, device_puts,
                                           options, kRate, kVolatility);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventRecord(priced, compute));

    CUDA_CHECK(cudaStreamWaitEvent(copies, priced, 0));
    CUDA_CHECK(cudaMemcpyAsync(calls.data(), device_calls, bytes, cudaMemcpyDeviceToHost, copies));
    CUDA_CHECK(cudaMemcpyAsync(puts.data(), device_puts, bytes, cudaMemcpyDeviceToHost, copies));
    CUDA_CHECK(cudaStreamSynchronize(copies));

    for (float* array : {device_spots, device_strikes, device_years, device_calls, device_puts}) {
        CUDA_CHECK(cudaFree(array));
    }
    CUDA_CHECK(cudaEventDestroy(uploaded));
    CUDA_CHECK(cudaEventDestroy(priced));
    CUDA_CHECK(cudaStreamDestroy(copies));
    CUDA_CHECK(cudaStreamDestroy(compute));

    bool pass = true;
    double total = 0.0;
    for (int i = 0; i < options; ++i) {
        pass = pass && check(spots[i], strikes[i], years[i], calls[i], puts[i]);
        total += calls[i] + puts[i];
    }
    std::printf("blackscholes %d options: total %.2f, checksum 0x%016llx, %s\n", options, total,
                static_cast<unsigned long long>(checksum(puts.data(), bytes, checksum(calls.data(), bytes))),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
