// fft: the discrete Fourier transform of complex numbers in one dimension, by Stockham's method.
//
//     X(k) = sum over j of x(j) exp(-2 pi i j k / n)                 n a power of two
//
// One launch takes one factor of n, four as long as there is one and at last a two, and a thread combines as many
// numbers as the factor says. Where `done` is the product of the factors so far, the numbers lie as transforms of
// length `done`, one after the other; the launch reads numbers n / factor apart, turns them by roots of one and writes
// their transform of length factor * done, so that the last launch leaves the result in its order. Roots come from a
// table.

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
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

__device__ double2 operator+(double2 a, double2 b) { return {a.x + b.x, a.y + b.y}; }

__device__ double2 operator-(double2 a, double2 b) { return {a.x - b.x, a.y - b.y}; }

__device__ double2 operator*(double2 a, double2 b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

// Root k of the table is exp(-2 pi i k / n).
__global__ void __launch_bounds__(kBlock)
radix4(const double2* __restrict__ from, double2* __restrict__ to, const double2* __restrict__ roots, int n, int done) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int quarter = n / 4;
    if (i >= quarter) {
        return;
    }
    const int place = i & (done - 1);  // in its transform
    const int turn = place * (quarter / done);
    const double2 a = from[i];
    const double2 b = from[i + quarter] * roots[turn];
    const double2 c = from[i + 2 * quarter] * roots[2 * turn];
    const double2 d = from[i + 3 * quarter] * roots[3 * turn];

    const double2 even = a + c;
    const double2 odd = a - c;
    const double2 sum = b + d;
    const double2 difference = b - d;
    const double2 turned = {difference.y, -difference.x};  // by -i

    const int first = 4 * (i - place) + place;
    to[first] = even + sum;
    to[first + done] = odd + turned;
    to[first + 2 * done] = even - sum;
    to[first + 3 * done] = odd - turned;
}

__global__ void __launch_bounds__(kBlock)
radix2(const double2* __restrict__ from, double2* __restrict__ to, const double2* __restrict__ roots, int n, int done) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int half = n / 2;
    if (i >= half) {
        return;
    }
    const int place = i & (done - 1);
    const double2 a = from[i];
    const double2 b = from[i + half] * roots[place * (half / done)];

    const int first = 2 * (i - place) + place;
    to[first] = a + b;
    to[first + done] = a - b;
}

// A well-mixed 32-bit hash, and the same as a number in [-1, 1): the input is a function of seed and index.
static uint32_t hash32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

static double noise(uint32_t x) { return hash32(x) * (1.0 / 2147483648.0) - 1.0; }

// FNV-1a over bytes.
static uint64_t checksum(const void* data, size_t bytes) {
    uint64_t sum = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

// exp(-2 pi i k / n), exact where it is on an axis.
static std::complex<double> root(int k, int n) {
    const double angle = std::acos(-1.0) / 2.0 * (static_cast<double>(4ll * k % n) / n);
    const std::complex<double> axes[4] = {{1.0, 0.0}, {0.0, -1.0}, {-1.0, 0.0}, {0.0, 1.0}};
    return std::complex<double>(std::cos(angle), -std::sin(angle)) * axes[4ll * k / n];
}

// The transform by halves, in place: numbers in the reversed order of their bits, then pairs of ever longer transforms.
static void reference(std::vector<std::complex<double>>& numbers) {
    const int n = static_cast<int>(numbers.size());
    for (int i = 1, mirrored = 0; i < n; ++i) {
        int bit = n / 2;
        for (; mirrored & bit; bit /= 2) {
            mirrored ^= bit;
        }
        mirrored ^= bit;
        if (i < mirrored) {
            std::swap(numbers[i], numbers[mirrored]);
        }
    }
    for (int half = 1; half < n; half *= 2) {
        std::vector<std::complex<double>> roots(half);
        for (int k = 0; k < half; ++k) {
            roots[k] = root(k, 2 * half);
        }
        for (int first = 0; first < n; first += 2 * half) {
            for (int k = 0; k < half; ++k) {
                const std::complex<double> a = numbers[first + k], b = numbers[first + half + k] * roots[k];
                numbers[first + k] = a + b;
                numbers[first + half + k] = a - b;
            }
        }
    }
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int exponent = argc > 1 ? parse(argv[1], 2, 22) : 11;
    const int seed = argc > 2 ? parse(argv[2], 0, INT32_MAX) : 1;
    if (argc > 3 || exponent < 0 || seed < 0) {
        std::fprintf(stderr, "usage: %s [exponent of two 2..22, which gives the points] [seed 0..2147483647]\n",
                     argv[0]);
        return 2;
    }

    // Noise on a few waves.
    const int n = 1 << exponent;
    const uint32_t key = hash32(static_cast<uint32_t>(seed) + 0x9e3779b9u);
    std::vector<std::complex<double>> input(n), roots(n);
    for (int k = 0; k < n; ++k) {
        roots[k] = root(k, n);
    }
    for (int i = 0; i < n; ++i) {
        const uint32_t index = key + 2 * static_cast<uint32_t>(i);
        input[i] = {noise(index), noise(index + 1)};
        for (uint32_t wave = 0; wave < 3; ++wave) {
            const uint64_t frequency = hash32(key ^ (0x40000000u + wave)) % n;
            input[i] += (1.0 + wave) * std::conj(roots[frequency * i % n]);
        }
    }

    double2 *from, *to, *device_roots;
    const size_t bytes = n * sizeof(double2);
    const size_t root_bytes = (3 * n / 4 + 1) * sizeof(double2);
    CUDA_CHECK(cudaMalloc(&from, bytes));
    CUDA_CHECK(cudaMalloc(&to, bytes));
    CUDA_CHECK(cudaMalloc(&device_roots, root_bytes));
    CUDA_CHECK(cudaMemcpy(from, input.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_roots, roots.data(), root_bytes, cudaMemcpyHostToDevice));

    for (int done = 1; done < n;) {
        const int factor = n / done >= 4 ? 4 : 2;
        const int blocks = (n / factor + kBlock - 1) / kBlock;
        if (factor == 4) {
            radix4<<<blocks, kBlock>>>(from, to, device_roots, n, done);
        } else {
            radix2<<<blocks, kBlock>>>(from, to, device_roots, n, done);
        }
        CUDA_CHECK(cudaGetLastError());
        std::swap(from, to);
        done *= factor;
    }

    std::vector<std::complex<double>> spectrum(n);
    CUDA_CHECK(cudaMemcpy(spectrum.data(), from, bytes, cudaMemcpyDeviceToHost));
    for (double2* array : {from, to, device_roots}) {
        CUDA_CHECK(cudaFree(array));
    }

    reference(input);
    double square = 0.0, error = 0.0;
    for (int k = 0; k < n; ++k) {
        square += std::norm(input[k]);
        error += std::norm(spectrum[k] - input[k]);
    }
    const double relative = std::sqrt(error / square);
    const bool pass = relative <= 1e-14;  // a NaN does not pass
    std::printf("fft %d points, seed %d: relative error %.1e, checksum 0x%016llx, %s\n", n, seed, relative,
                static_cast<unsigned long long>(checksum(spectrum.data(), bytes)), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
