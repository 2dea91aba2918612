// gaussian: a system of linear equations A x = b, solved by Gaussian elimination without pivoting.
//
// Column by column, a multiple of the pivot's row is taken from every row below it so that the column becomes zero
// there. That takes two launches per column: `multipliers` divides the column by its pivot, one thread per row, and
// `eliminate` updates the matrix below and to the right of the pivot, one thread per element; the threads of the
// column itself clear it and update the right-hand side. The host substitutes backwards in the triangular system that
// comes back. The diagonal dominates, so no pivot is small.

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

constexpr int kStrip = 64;  // rows of a block of `multipliers`
constexpr int kTile = 16;   // rows and columns of a block of `eliminate`

__global__ void __launch_bounds__(kStrip)
multipliers(const float* __restrict__ matrix, float* __restrict__ factors, int n, int pivot) {
    const int row = pivot + 1 + static_cast<int>(blockIdx.x) * kStrip + static_cast<int>(threadIdx.x);
    if (row < n) {
        factors[row] = matrix[row * n + pivot] / matrix[pivot * n + pivot];
    }
}

__global__ void __launch_bounds__(kTile* kTile)
eliminate(float* matrix, float* rhs, const float* __restrict__ factors, int n, int pivot) {
    const int col = pivot + static_cast<int>(blockIdx.x) * kTile + static_cast<int>(threadIdx.x);
    const int row = pivot + 1 + static_cast<int>(blockIdx.y) * kTile + static_cast<int>(threadIdx.y);
    if (row >= n || col >= n) {
        return;
    }
    const float factor = factors[row];
    if (col == pivot) {
        matrix[row * n + col] = 0.0f;
        rhs[row] -= factor * rhs[pivot];
    } else {
        matrix[row * n + col] -= factor * matrix[pivot * n + col];
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

// FNV-1a over bytes, from the sum of the bytes before.
static uint64_t checksum(const void* data, size_t bytes, uint64_t sum = 0xcbf29ce484222325ull) {
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

// Every unknown is coupled to all others, the less the farther away, and a tenth more to itself than to all of them.
static std::vector<float> coupling(int n) {
    std::vector<float> matrix(static_cast<size_t>(n) * n);
    for (int r = 0; r < n; ++r) {
        float others = 0.0f;
        for (int c = 0; c < n; ++c) {
            float& element = matrix[r * n + c];
            element = r == c ? 0.0f : noise(static_cast<uint32_t>(r * n + c)) / static_cast<float>(std::abs(r - c));
            others += std::fabs(element);
        }
        matrix[r * n + r] = 1.1f * others + 0.1f;
    }
    return matrix;
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

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int n = argc > 1 ? parse(argv[1], 1, 1024) : 60;
    if (argc > 2 || n < 0) {
        std::fprintf(stderr, "usage: %s [unknowns 1..1024]\n", argv[0]);
        return 2;
    }

    const std::vector<float> matrix = coupling(n);
    std::vector<float> rhs(n);
    for (int i = 0; i < n; ++i) {
        rhs[i] = 10.0f * noise(hash32(1) + static_cast<uint32_t>(i));
    }

    float* device_matrix = to_device(matrix);
    float* device_rhs = to_device(rhs);
    float* factors = nullptr;
    CUDA_CHECK(cudaMalloc(&factors, n * sizeof(float)));

    for (int pivot = 0; pivot < n - 1; ++pivot) {
        const int below = n - 1 - pivot;
        multipliers<<<(below + kStrip - 1) / kStrip, kStrip>>>(device_matrix, factors, n, pivot);
        const dim3 grid((below + 1 + kTile - 1) / kTile, (below + kTile - 1) / kTile);
        eliminate<<<grid, dim3(kTile, kTile)>>>(device_matrix, device_rhs, factors, n, pivot);
        CUDA_CHECK(cudaGetLastError());
    }

    const std::vector<float> upper = to_host(device_matrix, matrix.size());
    const std::vector<float> reduced = to_host(device_rhs, n);
    for (float* array : {device_matrix, device_rhs, factors}) {
        CUDA_CHECK(cudaFree(array));
    }

    std::vector<double> x(n);
    for (int r = n - 1; r >= 0; --r) {
        double rest = reduced[r];
        for (int c = r + 1; c < n; ++c) {
            rest -= upper[r * n + c] * x[c];
        }
        x[r] = rest / upper[r * n + r];
    }

    // The solution must solve the system that was given, and nothing may be left below the diagonal.
    bool pass = true;
    double worst = 0.0;
    for (int r = 0; r < n; ++r) {
        double residual = rhs[r], magnitude = std::fabs(rhs[r]);
        for (int c = 0; c < n; ++c) {
            residual -= matrix[r * n + c] * x[c];
            magnitude += std::fabs(matrix[r * n + c] * x[c]);
            pass = pass && (c >= r || upper[r * n + c] == 0.0f);
        }
        pass = pass && std::fabs(residual) <= 1e-6 * magnitude;  // a NaN does not pass
        worst = std::max(worst, std::fabs(residual));
    }
    const uint64_t sum = checksum(upper.data(), upper.size() * sizeof(float));
    std::printf("gaussian %d unknowns: residual %.2e, checksum 0x%016llx, %s\n", n, worst,
                static_cast<unsigned long long>(checksum(reduced.data(), n * sizeof(float), sum)),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
