// jmeint: which of many pairs of triangles in space intersect.
//
// Two triangles intersect if an edge of one crosses the other. An edge crosses a triangle if its ends lie on different
// sides of the plane, and if the line through them passes the three edges of the triangle on the same side: signs of the
// volumes of tetrahedra. Triangles that only touch, or lie in one plane, do not count.

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

constexpr int kBlock = 128;

template <typename T>
struct Vertex {
    T x, y, z;
};

// Six times the signed volume of a tetrahedron.
template <typename T>
__host__ __device__ static T volume(Vertex<T> a, Vertex<T> b, Vertex<T> c, Vertex<T> d) {
    const Vertex<T> p{a.x - d.x, a.y - d.y, a.z - d.z}, q{b.x - d.x, b.y - d.y, b.z - d.z}, r{c.x - d.x, c.y - d.y, c.z - d.z};
    return p.x * (q.y * r.z - q.z * r.y) + p.y * (q.z * r.x - q.x * r.z) + p.z * (q.x * r.y - q.y * r.x);
}

template <typename T>
__host__ __device__ static bool crosses(Vertex<T> from, Vertex<T> to, Vertex<T> a, Vertex<T> b, Vertex<T> c) {
    if (volume(a, b, c, from) * volume(a, b, c, to) >= T(0)) {
        return false;
    }
    const T first = volume(from, to, a, b), second = volume(from, to, b, c);
    if (first * second <= T(0)) {
        return false;
    }
    return first * volume(from, to, c, a) > T(0);
}

// Vertices 0 to 2 are one triangle, 3 to 5 the other.
template <typename T>
__host__ __device__ static bool intersect(const Vertex<T>* v) {
    for (int edge = 0; edge < 3; ++edge) {
        const int next = edge == 2 ? 0 : edge + 1;
        if (crosses(v[edge], v[next], v[3], v[4], v[5]) || crosses(v[3 + edge], v[3 + next], v[0], v[1], v[2])) {
            return true;
        }
    }
    return false;
}

__global__ void __launch_bounds__(kBlock)
jmeint_kernel(const Vertex<float>* __restrict__ vertices, int* __restrict__ result, int pairs) {
    const int pair = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (pair >= pairs) {
        return;
    }
    Vertex<float> v[6];
    for (int i = 0; i < 6; ++i) {
        v[i] = vertices[6 * pair + i];
    }
    result[pair] = intersect(v);
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
    const int pairs = parse(argc, argv, 1, 1, 1 << 20, 2000);
    const uint32_t seed = static_cast<uint32_t>(parse(argc, argv, 2, 0, 1 << 30, 1));
    const int spread = parse(argc, argv, 3, 0, 100, 100);

    // The centres of both triangles of a pair lie `spread` hundredths of the unit cube apart at most, each way; 0 lays them upon
    // each other.
    std::vector<Vertex<float>> vertices(6 * static_cast<size_t>(pairs));
    for (size_t i = 0; i < vertices.size(); ++i) {
        const uint32_t key = hash32(seed) + 8 * static_cast<uint32_t>(i);
        const uint32_t pair = hash32(seed + 1) + 8 * static_cast<uint32_t>(i / 6);
        const float away = i % 6 < 3 ? 0.0f : static_cast<float>(spread) / 100.0f;
        vertices[i] = {noise(key) + away * noise(pair), noise(key + 1) + away * noise(pair + 1), noise(key + 2) + away * noise(pair + 2)};
    }
    Vertex<float>* device_vertices = to_device(vertices);
    int* device_result = to_device(std::vector<int>(pairs, -1));

    jmeint_kernel<<<(pairs + kBlock - 1) / kBlock, kBlock>>>(device_vertices, device_result, pairs);
    CUDA_CHECK(cudaGetLastError());
    const std::vector<int> result = to_host(device_result, pairs);
    CUDA_CHECK(cudaFree(device_vertices));
    CUDA_CHECK(cudaFree(device_result));

    // In double precision a pair in a thousand may differ, where a volume is nearly nothing.
    int found = 0, differ = 0;
    for (int pair = 0; pair < pairs; ++pair) {
        Vertex<double> v[6];
        for (int i = 0; i < 6; ++i) {
            const Vertex<float> it = vertices[6 * static_cast<size_t>(pair) + i];
            v[i] = {it.x, it.y, it.z};
        }
        found += result[pair] == 1;
        differ += result[pair] != static_cast<int>(intersect(v));
    }
    const bool pass = differ <= 1 + pairs / 1000;
    std::printf("jmeint %d: %d pairs intersect, checksum 0x%016llx, %s\n", pairs, found,
                static_cast<unsigned long long>(checksum(result.data(), result.size() * sizeof(int))), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
