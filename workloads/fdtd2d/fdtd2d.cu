// fdtd2d: electromagnetic waves in a plane, by finite differences in time on a staggered grid.
//
// hz lies in the middle of the cells, ex on the edges between a cell and the one before it in its row, ey on those
// between a cell and the one in the row before. A step takes three kernels with a thread per cell:
//
//     ey(i, j) = source(t) for i = 0, otherwise ey(i, j) - 1/2 (hz(i, j) - hz(i - 1, j))
//     ex(i, j) = ex(i, j) - 1/2 (hz(i, j) - hz(i, j - 1))
//     hz(i, j) = hz(i, j) - 7/10 (ex(i, j + 1) - ex(i, j) + ey(i + 1, j) - ey(i, j))
//
// The outermost edges, ex at the ends of a row and ey below the last row, keep what they hold.

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

constexpr int kTileX = 16, kTileY = 8;  // columns and rows of a block

__global__ void __launch_bounds__(kTileX* kTileY)
fdtd_step1_kernel(const float* fict, float* ey, const float* hz, int rows, int cols, int t) {
    const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int i = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (i < rows && j < cols) {
        if (i == 0) {
            ey[i * cols + j] = fict[t];
        } else {
            ey[i * cols + j] = ey[i * cols + j] - 0.5f * (hz[i * cols + j] - hz[(i - 1) * cols + j]);
        }
    }
}

__global__ void __launch_bounds__(kTileX* kTileY)
fdtd_step2_kernel(float* ex, const float* hz, int rows, int cols) {
    const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int i = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (i < rows && j < cols && j > 0) {
        ex[i * (cols + 1) + j] = ex[i * (cols + 1) + j] - 0.5f * (hz[i * cols + j] - hz[i * cols + (j - 1)]);
    }
}

__global__ void __launch_bounds__(kTileX* kTileY)
fdtd_step3_kernel(const float* ex, const float* ey, float* hz, int rows, int cols) {
    const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int i = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (i < rows && j < cols) {
        hz[i * cols + j] = hz[i * cols + j] - 0.7f * (ex[i * (cols + 1) + (j + 1)] - ex[i * (cols + 1) + j] +
                                                      ey[(i + 1) * cols + j] - ey[i * cols + j]);
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

template <typename T>
static std::vector<T> to_host(const T* device, size_t count) {
    std::vector<T> host(count);
    CUDA_CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

static std::vector<double> reference(const std::vector<float>& source, const std::vector<float>& start_ex,
                                     const std::vector<float>& start_ey, const std::vector<float>& start_hz, int rows,
                                     int cols) {
    std::vector<double> ex(start_ex.begin(), start_ex.end()), ey(start_ey.begin(), start_ey.end());
    std::vector<double> hz(start_hz.begin(), start_hz.end());
    for (const float now : source) {
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < cols; ++j) {
                const double here = hz[i * cols + j];
                ey[i * cols + j] = i == 0 ? now : ey[i * cols + j] - 0.5 * (here - hz[(i - 1) * cols + j]);
                ex[i * (cols + 1) + j] -= j == 0 ? 0.0 : 0.5 * (here - hz[i * cols + j - 1]);
            }
        }
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < cols; ++j) {
                hz[i * cols + j] -= 0.7 * (ex[i * (cols + 1) + j + 1] - ex[i * (cols + 1) + j] +
                                           ey[(i + 1) * cols + j] - ey[i * cols + j]);
            }
        }
    }
    return hz;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int rows = argc > 1 ? parse(argv[1], 1, 4096) : 40;
    const int cols = argc > 2 ? parse(argv[2], 1, 4096) : 36;
    const int steps = argc > 3 ? parse(argv[3], 1, 10000) : 6;
    if (argc > 4 || rows < 0 || cols < 0 || steps < 0) {
        std::fprintf(stderr, "usage: %s [rows 1..4096] [cols 1..4096] [steps 1..10000]\n", argv[0]);
        return 2;
    }

    const size_t cells = static_cast<size_t>(rows) * cols;
    const std::vector<float> source = random_array(steps, 1);
    const std::vector<float> start_ex = random_array(cells + rows, 2);
    const std::vector<float> start_ey = random_array(cells + cols, 3);
    const std::vector<float> start_hz = random_array(cells, 4);
    float* fict = to_device(source);
    float* ex = to_device(start_ex);
    float* ey = to_device(start_ey);
    float* hz = to_device(start_hz);

    const dim3 block(kTileX, kTileY);
    const dim3 grid((cols + kTileX - 1) / kTileX, (rows + kTileY - 1) / kTileY);
    for (int t = 0; t < steps; ++t) {
        fdtd_step1_kernel<<<grid, block>>>(fict, ey, hz, rows, cols, t);
        CUDA_CHECK(cudaGetLastError());
        fdtd_step2_kernel<<<grid, block>>>(ex, hz, rows, cols);
        CUDA_CHECK(cudaGetLastError());
        fdtd_step3_kernel<<<grid, block>>>(ex, ey, hz, rows, cols);
        CUDA_CHECK(cudaGetLastError());
    }

    const std::vector<float> result = to_host(hz, cells);
    for (float* array : {fict, ex, ey, hz}) {
        CUDA_CHECK(cudaFree(array));
    }

    // What cancels in the differences was of the order of one.
    const std::vector<double> expected = reference(source, start_ex, start_ey, start_hz, rows, cols);
    bool pass = true;
    for (size_t i = 0; i < cells; ++i) {
        pass = pass && std::fabs(result[i] - expected[i]) <= 1e-5;  // a NaN does not pass
    }
    std::printf("fdtd2d %dx%d, %d steps: checksum 0x%016llx, %s\n", rows, cols, steps,
                static_cast<unsigned long long>(checksum(result.data(), cells * sizeof(float))),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
