// matmul: the product of two dense matrices in single precision, C = A B, row-major, by square tiles in shared memory.
//
// A block computes one tile of C, one element per thread. In every turn of its loop it loads one tile of A and one tile
// of B together, waits, and every thread multiplies one row by one column. The sides of the matrices are whole numbers
// of tiles, so that all threads do the same work. C is small and the inner dimension is long: what a thread does is
// nearly all loop.

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

constexpr int kTile = 16;

__global__ void __launch_bounds__(kTile* kTile)
matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int inner, int cols) {
    __shared__ float tile_a[kTile][kTile];
    __shared__ float tile_b[kTile][kTile];

    const int x = static_cast<int>(threadIdx.x);
    const int y = static_cast<int>(threadIdx.y);
    const int col = static_cast<int>(blockIdx.x) * kTile + x;
    const int row = static_cast<int>(blockIdx.y) * kTile + y;

    float sum = 0.0f;
    for (int base = 0; base < inner; base += kTile) {
        tile_a[y][x] = a[row * inner + base + x];
        tile_b[y][x] = b[(base + y) * cols + col];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kTile; ++i) {
            sum += tile_a[y][i] * tile_b[i][x];
        }
        __syncthreads();
    }
    c[row * cols + col] = sum;
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

// Every row is a window of one random sequence, `step` elements after the window of the row before: all values have all
// their bits, and a recording stays small.
static std::vector<float> windows(int rows, int cols, int step, uint32_t seed) {
    std::vector<float> matrix(static_cast<size_t>(rows) * cols);
    for (size_t i = 0; i < matrix.size(); ++i) {
        matrix[i] = noise(hash32(seed) + static_cast<uint32_t>(i / cols * step + i % cols));
    }
    return matrix;
}

// FNV-1a over bytes.
static uint64_t checksum(const void* data, size_t bytes) {
    uint64_t sum = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

static float* to_device(const std::vector<float>& host) {
    float* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, host.size() * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int tiles_down = argc > 1 ? parse(argv[1], 1, 128) : 2;
    const int tiles_across = argc > 2 ? parse(argv[2], 1, 128) : 3;
    const int tiles_inner = argc > 3 ? parse(argv[3], 1, 1024) : 128;
    if (argc > 4 || tiles_down < 0 || tiles_across < 0 || tiles_inner < 0) {
        std::fprintf(stderr, "usage: %s [tiles down 1..128] [tiles across 1..128] [inner tiles 1..1024]\n", argv[0]);
        return 2;
    }

    const int rows = tiles_down * kTile, cols = tiles_across * kTile, inner = tiles_inner * kTile;
    const std::vector<float> a = windows(rows, inner, 37, 1), b = windows(inner, cols, 3, 2);
    std::vector<float> c(static_cast<size_t>(rows) * cols);
    const size_t bytes = c.size() * sizeof(float);
    float* device_a = to_device(a);
    float* device_b = to_device(b);
    float* device_c = nullptr;
    CUDA_CHECK(cudaMalloc(&device_c, bytes));

    matmul<<<dim3(tiles_across, tiles_down), dim3(kTile, kTile)>>>(device_a, device_b, device_c, inner, cols);
    CUDA_CHECK(cudaGetLastError());

    CUDA_CHECK(cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_a));
    CUDA_CHECK(cudaFree(device_b));
    CUDA_CHECK(cudaFree(device_c));

    // The error relative to the reference, both as L2 norms. The rounding of a sum grows with the root of its length.
    double error = 0.0, norm = 0.0;
    for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < cols; ++col) {
            double sum = 0.0;
            for (int i = 0; i < inner; ++i) {
                sum += static_cast<double>(a[row * inner + i]) * b[i * cols + col];
            }
            error += std::pow(c[row * cols + col] - sum, 2);
            norm += sum * sum;
        }
    }
    const double relative = std::sqrt(error / norm);
    const bool pass = relative <= 5e-8 * std::sqrt(static_cast<double>(inner));  // a NaN does not pass
    std::printf("matmul %dx%dx%d: relative error %.2e, checksum 0x%016llx, %s\n", rows, cols, inner, relative,
                static_cast<unsigned long long>(checksum(c.data(), bytes)), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
