// covar: the covariances of the dimensions of a set of points, up to the factor 1 / (points - 1).
//
//     symmat(j1, j2) = sum over points i of (data(i, j1) - mean(j1)) (data(i, j2) - mean(j2))
//
// Three kernels: `mean_kernel`, one thread per dimension; `reduce_kernel`, which takes the mean from every element, one
// thread per element; `covar_kernel`, one thread per row, which makes the row from the diagonal on and mirrors it. Sums
// grow in global memory, term by term: a pointer without `__restrict__` may alias the others, so the compiler stores
// every partial sum.

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

constexpr int kStrip = 32;              // dimensions of a block of the kernels with a thread per dimension
constexpr int kTileX = 32, kTileY = 4;  // dimensions and points of a block of `reduce_kernel`

__global__ void __launch_bounds__(kStrip)
mean_kernel(float* mean, const float* data, int points, int dims) {
    const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (j < dims) {
        mean[j] = 0.0f;
        for (int i = 0; i < points; ++i) {
            mean[j] += data[i * dims + j];
        }
        mean[j] /= static_cast<float>(points);
    }
}

__global__ void __launch_bounds__(kTileX* kTileY)
reduce_kernel(const float* mean, float* data, int points, int dims) {
    const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int i = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (i < points && j < dims) {
        data[i * dims + j] -= mean[j];
    }
}

__global__ void __launch_bounds__(kStrip)
covar_kernel(float* symmat, const float* data, int points, int dims) {
    const int j1 = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (j1 < dims) {
        for (int j2 = j1; j2 < dims; ++j2) {
            symmat[j1 * dims + j2] = 0.0f;
            for (int i = 0; i < points; ++i) {
                symmat[j1 * dims + j2] += data[i * dims + j1] * data[i * dims + j2];
            }
            symmat[j2 * dims + j1] = symmat[j1 * dims + j2];
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

// Every dimension is noise around a level of its own and follows one of five factors, some of them downwards.
static std::vector<float> random_points(int points, int dims) {
    std::vector<float> data(static_cast<size_t>(points) * dims);
    for (int i = 0; i < points; ++i) {
        for (int j = 0; j < dims; ++j) {
            const float level = noise(hash32(1) + static_cast<uint32_t>(j));
            const float factor = noise(hash32(2) + static_cast<uint32_t>(i * 5 + j % 5));
            const float weight = 1.5f * noise(hash32(3) + static_cast<uint32_t>(j)) - 0.5f;
            data[i * dims + j] = level + weight * factor + noise(static_cast<uint32_t>(i * dims + j));
        }
    }
    return data;
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
    const int points = argc > 1 ? parse(argv[1], 2, 4096) : 40;
    const int dims = argc > 2 ? parse(argv[2], 1, 4096) : 72;
    if (argc > 3 || points < 0 || dims < 0) {
        std::fprintf(stderr, "usage: %s [points 2..4096] [dimensions 1..4096]\n", argv[0]);
        return 2;
    }

    const std::vector<float> samples = random_points(points, dims);
    const size_t elements = static_cast<size_t>(dims) * dims;
    float* data = to_device(samples);
    float* mean = device_array(dims);
    float* symmat = device_array(elements);

    const int strips = (dims + kStrip - 1) / kStrip;
    const dim3 tile(kTileX, kTileY);
    const dim3 tiles((dims + kTileX - 1) / kTileX, (points + kTileY - 1) / kTileY);
    mean_kernel<<<strips, kStrip>>>(mean, data, points, dims);
    CUDA_CHECK(cudaGetLastError());
    reduce_kernel<<<tiles, tile>>>(mean, data, points, dims);
    CUDA_CHECK(cudaGetLastError());
    covar_kernel<<<strips, kStrip>>>(symmat, data, points, dims);
    CUDA_CHECK(cudaGetLastError());

    const std::vector<float> result = to_host(symmat, elements);
    for (float* array : {data, mean, symmat}) {
        CUDA_CHECK(cudaFree(array));
    }

    std::vector<double> centred(samples.begin(), samples.end());
    for (int j = 0; j < dims; ++j) {
        double sum = 0.0;
        for (int i = 0; i < points; ++i) {
            sum += samples[i * dims + j];
        }
        for (int i = 0; i < points; ++i) {
            centred[i * dims + j] -= sum / points;
        }
    }
    bool pass = true;
    for (int j1 = 0; j1 < dims; ++j1) {
        for (int j2 = 0; j2 < dims; ++j2) {
            double expected = 0.0, magnitude = 0.0;
            for (int i = 0; i < points; ++i) {
                const double term = centred[i * dims + j1] * centred[i * dims + j2];
                expected += term;
                magnitude += std::fabs(term);
            }
            pass = pass && std::fabs(result[j1 * dims + j2] - expected) <= 1e-5 * magnitude;  // a NaN does not pass
        }
    }
    std::printf("covar %d points of %d dimensions: checksum 0x%016llx, %s\n", points, dims,
                static_cast<unsigned long long>(checksum(result.data(), elements * sizeof(float))),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
