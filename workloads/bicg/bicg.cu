// bicg: the two matrix-vector products of a step of the biconjugate gradient method, s = A^T r and q = A p.
//
// The products are independent: the first kernel makes s, one thread per column, the second makes q, one thread per
// row. Each thread clears its element and adds to it in global memory, term by term: a pointer without `__restrict__`
// may alias the others, so the compiler stores every partial sum.

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
bicg_kernel1(const float* A, const float* r, float* s, int rows, int cols) {
    const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (j < cols) {
        s[j] = 0.0f;
        for (int i = 0; i < rows; ++i) {
            s[j] += A[i * cols + j] * r[i];
        }
    }
}

__global__ void __launch_bounds__(kBlock)
bicg_kernel2(const float* A, const float* p, float* q, int rows, int cols) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < rows) {
        q[i] = 0.0f;
        for (int j = 0; j < cols; ++j) {
            q[i] += A[i * cols + j] * p[j];
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

// FNV-1a over bytes, from the sum of the bytes before.
static uint64_t checksum(const void* data, size_t bytes, uint64_t sum = 0xcbf29ce484222325ull) {
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

static float* device_array(size_t count) {
    float* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, count * sizeof(float)));
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
    const int rows = argc > 1 ? parse(argv[1], 1, 4096) : 144;
    const int cols = argc > 2 ? parse(argv[2], 1, 4096) : 168;
    if (argc > 3 || rows < 0 || cols < 0) {
        std::fprintf(stderr, "usage: %s [rows 1..4096] [cols 1..4096]\n", argv[0]);
        return 2;
    }

    const std::vector<float> matrix = random_array(static_cast<size_t>(rows) * cols, 1);
    const std::vector<float> residual = random_array(rows, 2);
    const std::vector<float> direction = random_array(cols, 3);
    float* A = to_device(matrix);
    float* r = to_device(residual);
    float* p = to_device(direction);
    float* s = device_array(cols);
    float* q = device_array(rows);

    bicg_kernel1<<<(cols + kBlock - 1) / kBlock, kBlock>>>(A, r, s, rows, cols);
    CUDA_CHECK(cudaGetLastError());
    bicg_kernel2<<<(rows + kBlock - 1) / kBlock, kBlock>>>(A, p, q, rows, cols);
    CUDA_CHECK(cudaGetLastError());

    const std::vector<float> result_s = to_host(s, cols);
    const std::vector<float> result_q = to_host(q, rows);
    for (float* array : {A, r, p, s, q}) {
        CUDA_CHECK(cudaFree(array));
    }

    // All terms are positive, so a sum is its own magnitude.
    std::vector<double> expected_s(cols), expected_q(rows);
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < cols; ++j) {
            const double element = matrix[i * cols + j];
            expected_s[j] += element * residual[i];
            expected_q[i] += element * direction[j];
        }
    }
    bool pass = true;
    for (int j = 0; j < cols; ++j) {
        pass = pass && std::fabs(result_s[j] - expected_s[j]) <= 1e-5 * expected_s[j];  // a NaN does not pass
    }
    for (int i = 0; i < rows; ++i) {
        pass = pass && std::fabs(result_q[i] - expected_q[i]) <= 1e-5 * expected_q[i];
    }
    const uint64_t sum = checksum(result_s.data(), cols * sizeof(float));
    std::printf("bicg %dx%d: checksum 0x%016llx, %s\n", rows, cols,
                static_cast<unsigned long long>(checksum(result_q.data(), rows * sizeof(float), sum)),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
