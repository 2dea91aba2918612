// lud: the LU decomposition of a matrix without pivoting, in place and by blocks of 16 x 16.
//
// A = L U, where L has ones on its diagonal, which are not stored, and U lies on and above it. One step takes one
// block of the diagonal and three launches:
//
//     diagonal   one block of 16 threads decomposes the diagonal block, a row per thread
//     perimeter  the blocks to the right become part of U, those below part of L: each block of threads solves for one
//                of either, a column or a row per thread, 16 + 16 threads
//     interior   what lies below and to the right loses the product of the two, an element per thread

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

// `corner` is where the diagonal block of this step begins, in rows and in columns.
__global__ void __launch_bounds__(kTile)
diagonal(float* matrix, int n, int corner) {
    __shared__ float tile[kTile][kTile + 1];

    const int mine = static_cast<int>(threadIdx.x);
    float* const origin = matrix + corner * n + corner;
    for (int r = 0; r < kTile; ++r) {
        tile[r][mine] = origin[r * n + mine];
    }
    __syncthreads();

    for (int k = 0; k < kTile - 1; ++k) {
        if (mine > k) {
            const float factor = tile[mine][k] / tile[k][k];
            tile[mine][k] = factor;
            for (int c = k + 1; c < kTile; ++c) {
                tile[mine][c] -= factor * tile[k][c];
            }
        }
        __syncthreads();
    }

    for (int r = 0; r < kTile; ++r) {
        origin[r * n + mine] = tile[r][mine];
    }
}

__global__ void __launch_bounds__(2 * kTile)
perimeter(float* matrix, int n, int corner) {
    __shared__ float pivot[kTile][kTile + 1];
    __shared__ float right[kTile][kTile + 1];
    __shared__ float below[kTile][kTile + 1];

    const int mine = static_cast<int>(threadIdx.x) % kTile;
    const bool solves_right = threadIdx.x < kTile;
    const int distance = (static_cast<int>(blockIdx.x) + 1) * kTile;
    float* const diagonal_origin = matrix + corner * n + corner;
    float* const right_origin = diagonal_origin + distance;
    float* const below_origin = diagonal_origin + distance * n;
    for (int r = static_cast<int>(threadIdx.x) / kTile; r < kTile; r += 2) {
        pivot[r][mine] = diagonal_origin[r * n + mine];
        right[r][mine] = right_origin[r * n + mine];
        below[r][mine] = below_origin[r * n + mine];
    }
    __syncthreads();

    if (solves_right) {
        for (int r = 1; r < kTile; ++r) {
            float value = right[r][mine];
            for (int k = 0; k < r; ++k) {
                value -= pivot[r][k] * right[k][mine];
            }
            right[r][mine] = value;
        }
    } else {
        for (int c = 0; c < kTile; ++c) {
            float value = below[mine][c];
            for (int k = 0; k < c; ++k) {
                value -= below[mine][k] * pivot[k][c];
            }
            below[mine][c] = value / pivot[c][c];
        }
    }
    __syncthreads();

    for (int r = static_cast<int>(threadIdx.x) / kTile; r < kTile; r += 2) {
        right_origin[r * n + mine] = right[r][mine];
        below_origin[r * n + mine] = below[r][mine];
    }
}

__global__ void __launch_bounds__(kTile* kTile)
interior(float* matrix, int n, int corner) {
    __shared__ float lower[kTile][kTile];
    __shared__ float upper[kTile][kTile];

    const int x = static_cast<int>(threadIdx.x);
    const int y = static_cast<int>(threadIdx.y);
    const int col = corner + (static_cast<int>(blockIdx.x) + 1) * kTile + x;
    const int row = corner + (static_cast<int>(blockIdx.y) + 1) * kTile + y;
    lower[y][x] = matrix[row * n + corner + x];
    upper[y][x] = matrix[(corner + y) * n + col];
    __syncthreads();

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kTile; ++k) {
        sum += lower[y][k] * upper[k][x];
    }
    matrix[row * n + col] -= sum;
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

// Noise with a diagonal so large that no pivot is small, and not so large that little else would matter.
static std::vector<float> random_matrix(int n) {
    std::vector<float> matrix(static_cast<size_t>(n) * n);
    for (size_t i = 0; i < matrix.size(); ++i) {
        matrix[i] = noise(static_cast<uint32_t>(i));
    }
    for (int i = 0; i < n; ++i) {
        matrix[i * n + i] += 1.25f * std::sqrt(static_cast<float>(n));
    }
    return matrix;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int n = argc > 1 ? parse(argv[1], kTile, 2048) : 112;
    if (argc > 2 || n < 0 || n % kTile != 0) {
        std::fprintf(stderr, "usage: %s [rows 16..2048, a multiple of 16]\n", argv[0]);
        return 2;
    }

    const std::vector<float> matrix = random_matrix(n);
    float* device_matrix = nullptr;
    const size_t bytes = matrix.size() * sizeof(float);
    CUDA_CHECK(cudaMalloc(&device_matrix, bytes));
    CUDA_CHECK(cudaMemcpy(device_matrix, matrix.data(), bytes, cudaMemcpyHostToDevice));

    for (int corner = 0; corner < n; corner += kTile) {
        diagonal<<<1, kTile>>>(device_matrix, n, corner);
        const int left = (n - corner) / kTile - 1;
        if (left > 0) {
            perimeter<<<left, 2 * kTile>>>(device_matrix, n, corner);
            interior<<<dim3(left, left), dim3(kTile, kTile)>>>(device_matrix, n, corner);
        }
        CUDA_CHECK(cudaGetLastError());
    }

    std::vector<float> result(matrix.size());
    CUDA_CHECK(cudaMemcpy(result.data(), device_matrix, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_matrix));

    // The product of L and U must be the matrix; rounding grows with what was added up.
    bool pass = true;
    double worst = 0.0;
    for (int r = 0; r < n; ++r) {
        for (int c = 0; c < n; ++c) {
            double product = 0.0, magnitude = 0.0;
            for (int k = 0; k <= r && k <= c; ++k) {
                const double term = (k == r ? 1.0 : result[r * n + k]) * result[k * n + c];
                product += term;
                magnitude += std::fabs(term);
            }
            const double error = std::fabs(product - matrix[r * n + c]);
            pass = pass && error <= 2e-6 * magnitude;  // a NaN does not pass
            worst = std::fmax(worst, error);
        }
    }
    std::printf("lud %dx%d: largest error of L U %.2e, checksum 0x%016llx, %s\n", n, n, worst,
                static_cast<unsigned long long>(checksum(result.data(), bytes)), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
