// mriq: the matrix Q of a magnetic resonance image reconstruction from samples that lie on no grid.
//
// The scanner measures at points k of a trajectory in frequency space, with sensitivity phi. At every voxel x,
//
//     Q(x) = sum over k of |phi(k)|^2 exp(2 pi i k x)
//
// `magnitudes` computes the |phi|^2, one thread per point. `accumulate` adds one part of the trajectory, which lies in
// constant memory, to Q, one thread per voxel; it is launched once for every part.

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

constexpr int kBlock = 64;          // voxels of a thread block
constexpr int kMagnitudes = 256;    // points of a thread block
constexpr int kPart = 512;          // points of a launch
constexpr double kTwoPi = 6.283185307179586;

__constant__ float3 part_points[kPart];
__constant__ float part_magnitudes[kPart];

__global__ void __launch_bounds__(kMagnitudes)
magnitudes(const float* __restrict__ real, const float* __restrict__ imaginary, float* __restrict__ squared,
           int points) {
    const int point = static_cast<int>(blockIdx.x) * kMagnitudes + static_cast<int>(threadIdx.x);
    if (point < points) {
        squared[point] = real[point] * real[point] + imaginary[point] * imaginary[point];
    }
}

__global__ void __launch_bounds__(kBlock)
accumulate(const float3* __restrict__ voxels, float* __restrict__ q_real, float* __restrict__ q_imaginary, int count,
           int points) {
    const int voxel = static_cast<int>(blockIdx.x) * kBlock + static_cast<int>(threadIdx.x);
    if (voxel >= count) {
        return;
    }
    const float3 x = voxels[voxel];
    float real = q_real[voxel];
    float imaginary = q_imaginary[voxel];
    for (int i = 0; i < points; ++i) {
        const float3 k = part_points[i];
        const float angle = static_cast<float>(kTwoPi) * (k.x * x.x + k.y * x.y + k.z * x.z);
        float sine, cosine;
        sincosf(angle, &sine, &cosine);
        real += part_magnitudes[i] * cosine;
        imaginary += part_magnitudes[i] * sine;
    }
    q_real[voxel] = real;
    q_imaginary[voxel] = imaginary;
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

// Points that wind along a spiral from the centre of frequency space outwards, not quite where they should be.
static std::vector<float3> spiral(int points) {
    std::vector<float3> all(points);
    for (int i = 0; i < points; ++i) {
        const double share = static_cast<double>(i) / points, radius = 4.0 * share, turn = 23.0 * kTwoPi * share;
        const auto jitter = [i](uint32_t axis) { return 0.05 * noise(hash32(axis) + static_cast<uint32_t>(i)); };
        all[i] = {static_cast<float>(radius * std::cos(turn) + jitter(1)),
                  static_cast<float>(radius * std::sin(turn) + jitter(2)),
                  static_cast<float>(2.0 * share - 1.0 + jitter(3))};
    }
    return all;
}

// The centres of a grid of voxels in a cube of side one around the origin.
static std::vector<float3> grid(int nx, int ny, int nz) {
    std::vector<float3> all;
    const auto centre = [](int i, int n) { return (i + 0.5f) / n - 0.5f; };
    for (int i = 0; i < nx * ny * nz; ++i) {
        all.push_back({centre(i % nx, nx), centre(i / nx % ny, ny), centre(i / nx / ny, nz)});
    }
    return all;
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
    const int points = argc > 1 ? parse(argv[1], 1, 1 << 16) : 3 * kPart;
    const int nx = argc > 2 ? parse(argv[2], 1, 64) : 8;
    const int ny = argc > 3 ? parse(argv[3], 1, 64) : 6;
    const int nz = argc > 4 ? parse(argv[4], 1, 64) : 4;
    if (argc > 5 || points < 0 || nx < 0 || ny < 0 || nz < 0) {
        std::fprintf(stderr, "usage: %s [points 1..65536] [x 1..64] [y 1..64] [z 1..64]\n", argv[0]);
        return 2;
    }

    const std::vector<float3> trajectory = spiral(points), voxels = grid(nx, ny, nz);
    const int count = static_cast<int>(voxels.size());
    std::vector<float> phi_real(points), phi_imaginary(points);
    for (int i = 0; i < points; ++i) {
        phi_real[i] = noise(hash32(4) + static_cast<uint32_t>(i));
        phi_imaginary[i] = noise(hash32(5) + static_cast<uint32_t>(i));
    }

    float3* device_voxels = to_device(voxels);
    float* device_real = to_device(phi_real);
    float* device_imaginary = to_device(phi_imaginary);
    float* squared = nullptr;
    float* q_real = nullptr;
    float* q_imaginary = nullptr;
    CUDA_CHECK(cudaMalloc(&squared, points * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&q_real, count * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&q_imaginary, count * sizeof(float)));
    CUDA_CHECK(cudaMemset(q_real, 0, count * sizeof(float)));
    CUDA_CHECK(cudaMemset(q_imaginary, 0, count * sizeof(float)));

    magnitudes<<<(points + kMagnitudes - 1) / kMagnitudes, kMagnitudes>>>(device_real, device_imaginary, squared,
                                                                          points);
    CUDA_CHECK(cudaGetLastError());
    for (int first = 0; first < points; first += kPart) {
        const int part = std::min(kPart, points - first);
        CUDA_CHECK(cudaMemcpyToSymbol(part_points, trajectory.data() + first, part * sizeof(float3)));
        CUDA_CHECK(cudaMemcpyToSymbol(part_magnitudes, squared + first, part * sizeof(float), 0,
                                      cudaMemcpyDeviceToDevice));
        accumulate<<<(count + kBlock - 1) / kBlock, kBlock>>>(device_voxels, q_real, q_imaginary, count, part);
        CUDA_CHECK(cudaGetLastError());
    }

    const std::vector<float> real = to_host(q_real, count), imaginary = to_host(q_imaginary, count);
    CUDA_CHECK(cudaFree(device_voxels));
    for (float* array : {device_real, device_imaginary, squared, q_real, q_imaginary}) {
        CUDA_CHECK(cudaFree(array));
    }

    // Nearly all of the sum cancels at most voxels, so rounding grows with what was added.
    bool pass = true;
    for (int v = 0; v < count; ++v) {
        double expected_real = 0.0, expected_imaginary = 0.0, magnitude = 0.0;
        for (int i = 0; i < points; ++i) {
            const double phi = std::pow(phi_real[i], 2) + std::pow(phi_imaginary[i], 2);
            const double angle = kTwoPi * (static_cast<double>(trajectory[i].x) * voxels[v].x +
                                           static_cast<double>(trajectory[i].y) * voxels[v].y +
                                           static_cast<double>(trajectory[i].z) * voxels[v].z);
            expected_real += phi * std::cos(angle);
            expected_imaginary += phi * std::sin(angle);
            magnitude += phi;
        }
        pass = pass && std::fabs(real[v] - expected_real) <= 2e-6 * magnitude &&
               std::fabs(imaginary[v] - expected_imaginary) <= 2e-6 * magnitude;  // a NaN does not pass
    }
    const uint64_t sum = checksum(real.data(), count * sizeof(float));
    std::printf("mriq %d points, %dx%dx%d voxels: checksum 0x%016llx, %s\n", points, nx, ny, nz,
                static_cast<unsigned long long>(checksum(imaginary.data(), count * sizeof(float), sum)),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
