// gemm: the general matrix product of BLAS in single precision, C = alpha A B + beta C, all matrices row-major.
//
// A block computes one square tile of C, one element per thread. It walks along K one tile at a time: the threads load
// a tile of A and a tile of B into shared memory together (zeros beyond the edges), wait for each other, and every
// thread multiplies one row by one column. Both the side of the tile and whether C is read at all (BLAS does not when
// beta is zero) are template parameters.

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

template <int Tile, bool ReadC>
__global__ void __launch_bounds__(Tile* Tile)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b, float beta,
     float* __restrict__ c) {
    __shared__ float tile_a[Tile][Tile];
    __shared__ float tile_b[Tile][Tile];

    const int x = static_cast<int>(threadIdx.x);
    const int y = static_cast<int>(threadIdx.y);
    const int col = static_cast<int>(blockIdx.x) * Tile + x;
    const int row = static_cast<int>(blockIdx.y) * Tile + y;

    float sum = 0.0f;
    for (int base = 0; base < k; base += Tile) {
        tile_a[y][x] = row < m && base + x < k ? a[row * k + base + x] : 0.0f;
        tile_b[y][x] = base + y < k && col < n ? b[(base + y) * n + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < Tile; ++i) {
            sum += tile_a[y][i] * tile_b[i][x];
        }
        __syncthreads();
    }

    if (row < m && col < n) {
        const int element = row * n + col;
        if constexpr (ReadC) {
            c[element] = alpha * sum + beta * c[element];
        } else {
            c[element] = alpha * sum;
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

static std::vector<float> random_matrix(int rows, int cols, uint32_t seed) {
    std::vector<float> matrix(static_cast<size_t>(rows) * cols);
    for (size_t i = 0; i < matrix.size(); ++i) {
        matrix[i] = noise(hash32(seed) + static_cast<uint32_t>(i));
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

// Whole argument, a finite number.
static bool parse(const char* text, float* value) {
    char* end = nullptr;
    *value = std::strtof(text, &end);
    return end != text && *end == '\0' && std::isfinite(*value);
}

int main(int argc, char** argv) {
    const int m = argc > 1 ? parse(argv[1], 1, 4096) : 100;
    const int n = argc > 2 ? parse(argv[2], 1, 4096) : 84;
    const int k = argc > 3 ? parse(argv[3], 1, 4096) : 75;
    float alpha = 1.5f, beta = -0.5f;
    const bool scalars = (argc <= 4 || parse(argv[4], &alpha)) && (argc <= 5 || parse(argv[5], &beta));
    if (argc > 6 || m < 0 || n < 0 || k < 0 || !scalars) {
        std::fprintf(stderr, "usage: %s [m 1..4096] [n 1..4096] [k 1..4096] [alpha] [beta]\n", argv[0]);
        return 2;
    }

    const std::vector<float> a = random_matrix(m, k, 1), b = random_matrix(k, n, 2), c = random_matrix(m, n, 3);
    float* device_a = to_device(a);
    float* device_b = to_device(b);
    float* device_c = to_device(c);

    const dim3 block(kTile, kTile);
    const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
    if (beta == 0.0f) {
        gemm<kTile, false><<<grid, block>>>(m, n, k, alpha, device_a, device_b, beta, device_c);
    } else {
        gemm<kTile, true><<<grid, block>>>(m, n, k, alpha, device_a, device_b, beta, device_c);
    }
    CUDA_CHECK(cudaGetLastError());

    std::vector<float> result(c.size());
    CUDA_CHECK(cudaMemcpy(result.data(), device_c, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_a));
    CUDA_CHECK(cudaFree(device_b));
    CUDA_CHECK(cudaFree(device_c));

    // Rounding grows with the magnitude of what was added, not with the magnitude of what is left of it.
    bool pass = true;
    for (int row = 0; row < m; ++row) {
        for (int col = 0; col < n; ++col) {
            double sum = 0.0, magnitude = 0.0;
            for (int i = 0; i < k; ++i) {
                const double product = static_cast<double>(a[row * k + i]) * b[i * n + col];
                sum += product;
                magnitude += std::fabs(product);
            }
            const double old = c[row * n + col];
            const double expected = alpha * sum + beta * old;
            const double bound = 1e-5 * (std::fabs(alpha) * magnitude + std::fabs(beta * old));
            pass = pass && std::fabs(result[row * n + col] - expected) <= bound;  // a NaN does not pass
        }
    }
    std::printf("gemm %dx%dx%d: checksum 0x%016llx, %s\n", m, n, k,
                static_cast<unsigned long long>(checksum(result.data(), result.size() * sizeof(float))),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
