// swaptions: prices of options on interest-rate swaps, by simulation of the whole curve of forward rates.
//
// The model is that of Heath, Jarrow and Morton with three factors, in half-years. Rate j of the curve is for the
// half-year that begins j half-years ahead. When half a year goes by, the curve loses its first rate and every other
// one moves by
//
//     drift(j) + sum over k of deviation(k, j) z(k)                  z from the normal distribution
//
// with the one drift under which bonds are fair. At its expiry an option may be exercised: the holder then gets the
// fixed leg of a swap, a coupon every half-year and the face at the end, for the face. The pay-off is discounted along
// the path. A block takes an option, a thread its share of the paths; the block adds up the pay-offs and their squares
// by a tree in shared memory and makes the price and its standard error of them.
//
// Random numbers are a function of seed, option, path and place in the path alone. The sum of twelve uniform ones has
// the variance of the normal distribution and nearly its shape, and takes no branches.

#include <algorithm>
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

constexpr int kBlock = 64;
constexpr int kRates = 11;  // of a curve
constexpr int kFactors = 3;
constexpr double kStep = 0.5;    // years
constexpr double kFace = 100.0;  // dollars

// The curve today, and how it moves: the same for all options.
struct Model {
    double today[kRates];
    double drift[kRates];
    double deviation[kFactors][kRates];
};

struct Swaption {
    int expiry;     // half-years until it may be exercised
    int payments;   // of the swap
    double coupon;  // dollars each half-year
};

// A well-mixed function of 64 bits.
__host__ __device__ inline uint64_t mix64(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// A number from the normal distribution.
__host__ __device__ inline double normal(uint64_t path, int place) {
    uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const uint64_t drawn = mix64(path + 0x9e3779b97f4a7c15ull * static_cast<uint64_t>(3 * place + i + 1));
        for (int shift = 0; shift < 64; shift += 16) {
            sum += static_cast<uint32_t>(drawn >> shift & 0xffff);
        }
    }
    return (static_cast<double>(sum) - 12 * 32767.5) * (1.0 / 65536.0);
}

// The pay-off of an option on one path, in dollars of today.
__host__ __device__ inline double payoff(const Model& model, const Swaption& swaption, uint64_t path) {
    double curve[kRates];
    for (int j = 0; j < kRates; ++j) {
        curve[j] = model.today[j];
    }
    double paid = 0.0;  // interest until the expiry
    for (int step = 0; step < swaption.expiry; ++step) {
        double z[kFactors];
#pragma unroll
        for (int k = 0; k < kFactors; ++k) {
            z[k] = normal(path, step * kFactors + k);
        }
        paid += curve[0] * kStep;
#pragma unroll
        for (int j = 0; j + 1 < kRates; ++j) {
            double rate = curve[j + 1] + model.drift[j];
#pragma unroll
            for (int k = 0; k < kFactors; ++k) {
                rate += model.deviation[k][j] * z[k];
            }
            curve[j] = rate;
        }
    }
    double ahead = 0.0, bond = 1.0, leg = 0.0;
#pragma unroll
    for (int j = 0; j < kRates; ++j) {
        if (j < swaption.payments) {
            ahead += curve[j] * kStep;
            bond = exp(-ahead);
            leg += swaption.coupon * bond;
        }
    }
    return fmax(leg + kFace * bond - kFace, 0.0) * exp(-paid);
}

__host__ __device__ inline uint64_t path_key(uint64_t seed, int option, int path) {
    return mix64(mix64(seed + 0x9e3779b97f4a7c15ull * static_cast<uint64_t>(option + 1)) + static_cast<uint64_t>(path));
}

__global__ void __launch_bounds__(kBlock)
simulate(const Model* __restrict__ model, const Swaption* __restrict__ swaptions, uint64_t seed, int paths,
         double* prices, double* errors) {
    __shared__ double sum[kBlock], square[kBlock];

    const int thread = static_cast<int>(threadIdx.x);
    const int option = static_cast<int>(blockIdx.x);
    const Swaption swaption = swaptions[option];
    double own_sum = 0.0, own_square = 0.0;
    for (int path = thread; path < paths; path += kBlock) {
        const double paid = payoff(*model, swaption, path_key(seed, option, path));
        own_sum += paid;
        own_square += paid * paid;
    }
    sum[thread] = own_sum;
    square[thread] = own_square;

    for (int half = kBlock / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) {
            sum[thread] += sum[thread + half];
            square[thread] += square[thread + half];
        }
    }
    if (thread == 0) {
        const double mean = sum[0] / paths;
        const double variance = paths > 1 ? (square[0] - sum[0] * mean) / (paths - 1) : 0.0;
        prices[option] = mean;
        errors[option] = sqrt(fmax(variance, 0.0) / paths);
    }
}

// FNV-1a over bytes, from the sum of the bytes before.
static uint64_t checksum(const void* data, size_t bytes, uint64_t sum = 0xcbf29ce484222325ull) {
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

// A rising curve; one factor moves all of it, one mostly its near end, one tilts it.
static Model model() {
    Model it = {};
    double before = 0.0;  // the drifts until here
    double sums[kFactors] = {};
    for (int j = 0; j < kRates; ++j) {
        const double years = kStep * j;
        it.today[j] = 0.03 + 0.002 * years;
        const double volatility[kFactors] = {0.010, 0.008 * std::exp(-0.6 * years), 0.003 - 0.0012 * years};
        double until = 0.0;
        for (int k = 0; k < kFactors; ++k) {
            it.deviation[k][j] = volatility[k] * std::sqrt(kStep);
            sums[k] += it.deviation[k][j];
            until += 0.5 * kStep * sums[k] * sums[k];
        }
        it.drift[j] = until - before;
        before = until;
    }
    return it;
}

// A fixed leg that is worth between 0.96 and 1.06 of its face today.
static Swaption contract(const Model& model, uint64_t seed, int option) {
    const uint64_t drawn = mix64(~seed + 0x9e3779b97f4a7c15ull * static_cast<uint64_t>(option));
    const int expiry = 1 + static_cast<int>(drawn % 4);
    const int payments = 2 + static_cast<int>((drawn >> 8) % static_cast<uint64_t>(kRates - expiry - 1));
    double ahead = 0.0, first = 0.0, last = 0.0, bonds = 0.0;
    for (int j = 0; j < expiry + payments; ++j) {
        ahead += model.today[j] * kStep;
        last = std::exp(-ahead);
        first = j + 1 == expiry ? last : first;
        bonds += j >= expiry ? last : 0.0;
    }
    const double worth = 0.96 + 0.001 * static_cast<double>((drawn >> 16) % 101);
    return {expiry, payments, kFace * (worth * first - last) / bonds};
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int count = argc > 1 ? parse(argv[1], 1, 4096) : 4;
    const int paths = argc > 2 ? parse(argv[2], 1, 1 << 20) : 64;
    const int seed_number = argc > 3 ? parse(argv[3], 0, INT32_MAX) : 1;
    if (argc > 4 || count < 0 || paths < 0 || seed_number < 0) {
        std::fprintf(stderr, "usage: %s [swaptions 1..4096] [simulations 1..1048576] [seed 0..2147483647]\n", argv[0]);
        return 2;
    }

    const uint64_t seed = mix64(static_cast<uint64_t>(seed_number));
    const Model curve = model();
    std::vector<Swaption> swaptions(count);
    for (int i = 0; i < count; ++i) {
        swaptions[i] = contract(curve, seed, i);
    }

    Model* device_model = nullptr;
    Swaption* device_swaptions = nullptr;
    double* device_prices = nullptr;
    double* device_errors = nullptr;
    const size_t bytes = count * sizeof(double);
    CUDA_CHECK(cudaMalloc(&device_model, sizeof(Model)));
    CUDA_CHECK(cudaMalloc(&device_swaptions, count * sizeof(Swaption)));
    CUDA_CHECK(cudaMalloc(&device_prices, bytes));
    CUDA_CHECK(cudaMalloc(&device_errors, bytes));
    CUDA_CHECK(cudaMemcpy(device_model, &curve, sizeof(Model), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_swaptions, swaptions.data(), count * sizeof(Swaption), cudaMemcpyHostToDevice));

    simulate<<<count, kBlock>>>(device_model, device_swaptions, seed, paths, device_prices, device_errors);
    CUDA_CHECK(cudaGetLastError());

    std::vector<double> prices(count), errors(count);
    CUDA_CHECK(cudaMemcpy(prices.data(), device_prices, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(errors.data(), device_errors, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_model));
    CUDA_CHECK(cudaFree(device_swaptions));
    CUDA_CHECK(cudaFree(device_prices));
    CUDA_CHECK(cudaFree(device_errors));

    // The same paths, added up in their order.
    bool pass = true;
    double total = 0.0;
    for (int i = 0; i < count; ++i) {
        double sum = 0.0, square = 0.0;
        for (int path = 0; path < paths; ++path) {
            const double paid = payoff(curve, swaptions[i], path_key(seed, i, path));
            sum += paid;
            square += paid * paid;
        }
        const double mean = sum / paths;
        const double variance = paths > 1 ? std::fmax((square - sum * mean) / (paths - 1), 0.0) : 0.0;
        pass = pass && std::fabs(prices[i] - mean) <= 1e-10 &&
               std::fabs(errors[i] * errors[i] * paths - variance) <= 1e-9 * kFace;  // a NaN does not pass
        total += prices[i];
    }
    std::printf("swaptions %d of %d simulations, seed %d: average price %.4f, checksum 0x%016llx, %s\n", count, paths,
                seed_number, total / count,
                static_cast<unsigned long long>(checksum(errors.data(), bytes, checksum(prices.data(), bytes))),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
