// mvt: two products of a square matrix with vectors, x1 += A y1 and x2 += A^T y2.
//
// A thread makes an element; its sum grows in global memory, term by term: a pointer without `__restrict__` may alias
// the others, so the compiler stores every partial sum.

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

__global__ void __launch_bounds__(kBlock)
mvt_kernel1(const float* A, float* x1, const float* y1, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        for (int j = 0; j < n; ++j) {
            x1[i] += A[i * n + j] * y1[j];
        }
    }
}

__global__ void __launch_bounds__(kBlock)
mvt_kernel2(const float* A, float* x2, const float* y2, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        for (int j = 0; j < n; ++j) {
            x2[i] += A[j * n + i] * y2[j];
        }
    }
}

// A well-mixed 32-bit hash, and the same as a float in [0, 1).
static uint32_t hash32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

static float noise(uint32_t x) { return static_cast<float>(hash32(x) >> 8) * (1.0f / 16777216.0f); }

// FNV-1a over bytes.
static uint64_t checksum(const void* data, size_t bytes) {
    uint64_t sum = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

template <typename T>
static T* to_device(const std::vector<T>& host) {
    T* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static std::vector<T> to_host(const T* device, size_t count) {
    std::vector<T> host(count);
    CUDA_CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

// Whole argument, decimal, within [low, high]; `otherwise` if it is not given. What is no such number ends the program.
static int parse(int argc, char** argv, int at, int low, int high, int otherwise) {
    if (at >= argc) {
        return otherwise;
    }
    char* end = nullptr;
    const long value = std::strtol(argv[at], &end, 10);
    if (end == argv[at] || *end != '\0' || value < low || high < value) {
        std::fprintf(stderr, "%s: argument %d is `%s`: expected a number from %d to %d\n", argv[0], at, argv[at], low, high);
        std::exit(2);
    }
    return static_cast<int>(value);
}

// Entries in [-range, range), of which `zeros` in a hundred are zero.
static std::vector<float> entries(size_t count, uint32_t seed, int zeros, int range) {
    std::vector<float> array(count);
    for (size_t i = 0; i < count; ++i) {
        const uint32_t key = hash32(seed) + 2 * static_cast<uint32_t>(i);
        array[i] = noise(key) * 100.0f < static_cast<float>(zeros) ? 0.0f : (2.0f * noise(key + 1) - 1.0f) * range;
    }
    return array;
}

// Whether x + M y is as expected, M read by rows or by columns, within the rounding of its terms.
static bool is_right(const std::vector<float>& result, const std::vector<float>& x, const std::vector<float>& matrix,
                     const std::vector<float>& y, int n, bool by_columns) {
    for (int i = 0; i < n; ++i) {
        double sum = x[i], size = std::fabs(x[i]);
        for (int j = 0; j < n; ++j) {
            const double term = static_cast<double>(matrix[by_columns ? j * n + i : i * n + j]) * y[j];
            sum += term;
            size += std::fabs(term);
        }
        if (!(std::fabs(result[i] - sum) <= 1e-7 * (n + 2) * size)) {  // a NaN does not pass
            return false;
        }
    }
    return true;
}

int main(int argc, char** argv) {
    const int n = parse(argc, argv, 1, 1, 2048, 128);
    const uint32_t seed = static_cast<uint32_t>(parse(argc, argv, 2, 0, 1 << 30, 1));
    const int zeros = parse(argc, argv, 3, 0, 100, 0);
    const int range = parse(argc, argv, 4, 1, 1 << 20, 1);

    const std::vector<float> matrix = entries(static_cast<size_t>(n) * n, seed, zeros, range);
    const std::vector<float> x1 = entries(n, seed + 1, 0, range), x2 = entries(n, seed + 2, 0, range);
    const std::vector<float> y1 = entries(n, seed + 3, zeros, range), y2 = entries(n, seed + 4, zeros, range);
    float* A = to_device(matrix);
    float* device_x1 = to_device(x1);
    float* device_x2 = to_device(x2);
    float* device_y1 = to_device(y1);
    float* device_y2 = to_device(y2);

    const int blocks = (n + kBlock - 1) / kBlock;
    mvt_kernel1<<<blocks, kBlock>>>(A, device_x1, device_y1, n);
    CUDA_CHECK(cudaGetLastError());
    mvt_kernel2<<<blocks, kBlock>>>(A, device_x2, device_y2, n);
    CUDA_CHECK(cudaGetLastError());

    const std::vector<float> result1 = to_host(device_x1, n), result2 = to_host(device_x2, n);
    for (float* array : {A, device_x1, device_x2, device_y1, device_y2}) {
        CUDA_CHECK(cudaFree(array));
    }
    const bool pass = is_right(result1, x1, matrix, y1, n, false) && is_right(result2, x2, matrix, y2, n, true);
    std::printf("mvt %d: checksums 0x%016llx 0x%016llx, %s\n", n,
                static_cast<unsigned long long>(checksum(result1.data(), n * sizeof(float))),
                static_cast<unsigned long long>(checksum(result2.data(), n * sizeof(float))), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
