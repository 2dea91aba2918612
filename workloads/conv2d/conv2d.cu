// conv2d: a grid of numbers convolved with nine fixed weights, a thread for each element inside the rim.
//
// Elements of the rim keep 0.

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

constexpr int kBlockX = 32, kBlockY = 8;

__global__ void __launch_bounds__(kBlockX * kBlockY)
convolve(const float* A, float* B, int rows, int cols) {
    const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int i = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    const float c11 = +0.2f, c21 = +0.5f, c31 = -0.8f;
    const float c12 = -0.3f, c22 = +0.6f, c32 = -0.9f;
    const float c13 = +0.4f, c23 = +0.7f, c33 = +0.10f;
    if (0 < i && i < rows - 1 && 0 < j && j < cols - 1) {
        B[i * cols + j] = c11 * A[(i - 1) * cols + (j - 1)] + c21 * A[(i - 1) * cols + j] + c31 * A[(i - 1) * cols + (j + 1)] +
                          c12 * A[i * cols + (j - 1)] + c22 * A[i * cols + j] + c32 * A[i * cols + (j + 1)] +
                          c13 * A[(i + 1) * cols + (j - 1)] + c23 * A[(i + 1) * cols + j] + c33 * A[(i + 1) * cols + (j + 1)];
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

int main(int argc, char** argv) {
    const int rows = parse(argc, argv, 1, 1, 4096, 96);
    const int cols = parse(argc, argv, 2, 1, 4096, 96);
    const uint32_t seed = static_cast<uint32_t>(parse(argc, argv, 3, 0, 1 << 30, 1));
    const int zeros = parse(argc, argv, 4, 0, 100, 0);

    // Entries in [0, 1), of which `zeros` in a hundred are zero.
    const size_t count = static_cast<size_t>(rows) * cols;
    std::vector<float> grid(count);
    for (size_t i = 0; i < count; ++i) {
        const uint32_t key = hash32(seed) + 2 * static_cast<uint32_t>(i);
        grid[i] = noise(key) * 100.0f < static_cast<float>(zeros) ? 0.0f : noise(key + 1);
    }
    float* A = to_device(grid);
    float* B = to_device(std::vector<float>(count, 0.0f));

    const dim3 block(kBlockX, kBlockY), blocks((cols + kBlockX - 1) / kBlockX, (rows + kBlockY - 1) / kBlockY);
    convolve<<<blocks, block>>>(A, B, rows, cols);
    CUDA_CHECK(cudaGetLastError());
    const std::vector<float> result = to_host(B, count);
    CUDA_CHECK(cudaFree(A));
    CUDA_CHECK(cudaFree(B));

    const double weights[3][3] = {{0.2, 0.5, -0.8}, {-0.3, 0.6, -0.9}, {0.4, 0.7, 0.1}};
    bool pass = true;
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < cols; ++j) {
            double sum = 0.0;
            const bool inside = 0 < i && i < rows - 1 && 0 < j && j < cols - 1;
            for (int y = 0; inside && y < 3; ++y) {
                for (int x = 0; x < 3; ++x) {
                    sum += weights[y][x] * grid[static_cast<size_t>(i + y - 1) * cols + (j + x - 1)];
                }
            }
            pass = pass && std::fabs(result[static_cast<size_t>(i) * cols + j] - sum) <= 1e-5;  // a NaN does not pass
        }
    }
    std::printf("conv2d %dx%d: checksum 0x%016llx, %s\n", rows, cols,
                static_cast<unsigned long long>(checksum(result.data(), count * sizeof(float))), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
