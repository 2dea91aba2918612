// atax: the product y = A^T (A x) of a matrix, its transpose and a vector.
//
// The first kernel makes tmp = A x, one thread per row; the second makes y = A^T tmp, one thread per column. Both sums
// grow in global memory, term by term: a pointer without `__restrict__` may alias the others, so the compiler stores
// every partial sum. tmp and y are zero before the launches.

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
atax_kernel1(const float* A, const float* x, float* tmp, int rows, int cols) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < rows) {
        for (int j = 0; j < cols; ++j) {
            tmp[i] += A[i * cols + j] * x[j];
        }
    }
}

__global__ void __launch_bounds__(kBlock)
atax_kernel2(const float* A, float* y, const float* tmp, int rows, int cols) {
    const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (j < cols) {
        for (int i = 0; i < rows; ++i) {
            y[j] += A[i * cols + j] * tmp[i];
        }
    }
}

// A well-mixed 32-bit hash, and the same as a float in [0, 1): the input is a function of the index alone.
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

// `seed` makes one array differ from the next.
static std::vector<float> random_array(size_t count, uint32_t seed) {
    std::vector<float> array(count);
    for (size_t i = 0; i < count; ++i) {
        array[i] = noise(hash32(seed) + static_cast<uint32_t>(i));
    }
    return array;
}

template <typename T>
static T* to_device(const std::vector<T>& host) {
    T* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static float* zeros(size_t count) {
    float* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, count * sizeof(float)));
    CUDA_CHECK(cudaMemset(device, 0, count * sizeof(float)));
    return device;
}

template <typename T>
static std::vector<T> to_host(const T* device, size_t count) {
    std::vector<T> host(count);
    CUDA_CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int rows = argc > 1 ? parse(argv[1], 1, 4096) : 160;
    const int cols = argc > 2 ? parse(argv[2], 1, 4096) : 120;
    if (argc > 3 || rows < 0 || cols < 0) {
        std::fprintf(stderr, "usage: %s [rows 1..4096] [cols 1..4096]\n", argv[0]);
        return 2;
    }

    const std::vector<float> matrix = random_array(static_cast<size_t>(rows) * cols, 1);
    const std::vector<float> vector = random_array(cols, 2);
    float* A = to_device(matrix);
    float* x = to_device(vector);
    float* tmp = zeros(rows);
    float* y = zeros(cols);

    atax_kernel1<<<(rows + kBlock - 1) / kBlock, kBlock>>>(A, x, tmp, rows, cols);
    CUDA_CHECK(cudaGetLastError());
    atax_kernel2<<<(cols + kBlock - 1) / kBlock, kBlock>>>(A, y, tmp, rows, cols);
    CUDA_CHECK(cudaGetLastError());

    const std::vector<float> result = to_host(y, cols);
    for (float* array : {A, x, tmp, y}) {
        CUDA_CHECK(cudaFree(array));
    }

    // All terms are positive, so the sum is its own magnitude.
    std::vector<double> expected(cols);
    for (int i = 0; i < rows; ++i) {
        double sum = 0.0;
        for (int j = 0; j < cols; ++j) {
            sum += static_cast<double>(matrix[i * cols + j]) * vector[j];
        }
        for (int j = 0; j < cols; ++j) {
            expected[j] += matrix[i * cols + j] * sum;
        }
    }
    bool pass = true;
    for (int j = 0; j < cols; ++j) {
        pass = pass && std::fabs(result[j] - expected[j]) <= 1e-5 * expected[j];  // a NaN does not pass
    }
    std::printf("atax %dx%d: checksum 0x%016llx, %s\n", rows, cols,
                static_cast<unsigned long long>(checksum(result.data(), cols * sizeof(float))), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
