// gramschm: the decomposition A = Q R of a matrix into orthonormal columns and an upper triangle, by the modified
// Gram-Schmidt process.
//
// Three kernels per column k: the first, a single thread, makes the norm of the column, r(k, k); the second, one thread
// per row, divides the column by it, which is column k of q; the third, one thread per column j > k, makes r(k, j), the
// part of column j along q(k), and takes it away. What is left in a are the columns, orthogonal but not yet of length
// one. Sums grow in global memory, term by term, but for the norm's: a pointer without `__restrict__` may alias the
// others, so the compiler stores every partial sum.

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

constexpr int kBlock = 32;

__global__ void __launch_bounds__(kBlock)
gramschmidt_kernel1(const float* a, float* r, int rows, int cols, int k) {
    const int tid = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (tid == 0) {
        float norm = 0.0f;
        for (int i = 0; i < rows; ++i) {
            norm += a[i * cols + k] * a[i * cols + k];
        }
        r[k * cols + k] = sqrtf(norm);
    }
}

__global__ void __launch_bounds__(kBlock)
gramschmidt_kernel2(const float* a, const float* r, float* q, int rows, int cols, int k) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < rows) {
        q[i * cols + k] = a[i * cols + k] / r[k * cols + k];
    }
}

__global__ void __launch_bounds__(kBlock)
gramschmidt_kernel3(float* a, float* r, const float* q, int rows, int cols, int k) {
    const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (j > k && j < cols) {
        r[k * cols + j] = 0.0f;
        for (int i = 0; i < rows; ++i) {
            r[k * cols + j] += q[i * cols + k] * a[i * cols + j];
        }
        for (int i = 0; i < rows; ++i) {
            a[i * cols + j] -= q[i * cols + k] * r[k * cols + j];
        }
    }
}

// A well-mixed 32-bit hash, and the same as a float in [-1, 1): the input is a function of the index alone.
static uint32_t hash32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

static float noise(uint32_t x) { return static_cast<float>(hash32(x) >> 8) * (1.0f / 8388608.0f) - 1.0f; }

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

static std::vector<double> reference(const std::vector<float>& matrix, int rows, int cols) {
    std::vector<double> a(matrix.begin(), matrix.end());
    for (int k = 0; k < cols; ++k) {
        double square = 0.0;
        for (int i = 0; i < rows; ++i) {
            square += a[i * cols + k] * a[i * cols + k];
        }
        for (int j = k + 1; j < cols; ++j) {
            double dot = 0.0;
            for (int i = 0; i < rows; ++i) {
                dot += a[i * cols + k] * a[i * cols + j];
            }
            for (int i = 0; i < rows; ++i) {
                a[i * cols + j] -= dot / square * a[i * cols + k];
            }
        }
    }
    return a;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int rows = argc > 1 ? parse(argv[1], 1, 1024) : 48;
    const int cols = argc > 2 ? parse(argv[2], 1, rows) : 40;
    if (argc > 3 || rows < 0 || cols < 0) {
        std::fprintf(stderr, "usage: %s [rows 1..1024] [cols 1..rows]\n", argv[0]);
        return 2;
    }

    // Noise of both signs: the columns point in all directions, so none is nearly a combination of those before it.
    const size_t elements = static_cast<size_t>(rows) * cols;
    const std::vector<float> matrix = random_array(elements, 1);
    float* a = to_device(matrix);
    float* r = zeros(static_cast<size_t>(cols) * cols);
    float* q = zeros(elements);

    for (int k = 0; k < cols; ++k) {
        gramschmidt_kernel1<<<1, kBlock>>>(a, r, rows, cols, k);
        CUDA_CHECK(cudaGetLastError());
        gramschmidt_kernel2<<<(rows + kBlock - 1) / kBlock, kBlock>>>(a, r, q, rows, cols, k);
        CUDA_CHECK(cudaGetLastError());
        gramschmidt_kernel3<<<(cols + kBlock - 1) / kBlock, kBlock>>>(a, r, q, rows, cols, k);
        CUDA_CHECK(cudaGetLastError());
    }

    const std::vector<float> result = to_host(a, elements);
    for (float* array : {a, r, q}) {
        CUDA_CHECK(cudaFree(array));
    }

    // The columns began with elements of the order of one, and rounding stays relative to that.
    const std::vector<double> expected = reference(matrix, rows, cols);
    bool pass = true;
    double worst = 0.0;
    for (size_t i = 0; i < elements; ++i) {
        const double error = std::fabs(result[i] - expected[i]);
        pass = pass && error <= 2e-5;  // a NaN does not pass
        worst = std::fmax(worst, error);
    }
    std::printf("gramschm %dx%d: largest error %.2e, checksum 0x%016llx, %s\n", rows, cols, worst,
                static_cast<unsigned long long>(checksum(result.data(), elements * sizeof(float))),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
