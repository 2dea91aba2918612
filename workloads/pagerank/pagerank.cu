// pagerank: the rank of every vertex of a directed graph, by a number of rounds of the power method.
//
//     rank(v) = (1 - damping) / vertices + damping * (sum over edges u -> v of rank(u) / degree(u))
//
// A vertex pulls from those that point to it, so nothing is written twice and sums have one order. Its incoming edges
// are in compressed rows (CSR): sources[offsets[v]] to sources[offsets[v + 1] - 1]. A round stores what a vertex gives
// to each of its successors, the last round the rank itself. Two arrays take turns.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
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
constexpr float kDamping = 0.85f;

__global__ void __launch_bounds__(kBlock)
pull(const int* __restrict__ offsets, const int* __restrict__ sources, const int* __restrict__ degrees,
     const float* __restrict__ before, float* __restrict__ after, int vertices, bool last) {
    const int v = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (v >= vertices) {
        return;
    }
    float sum = 0.0f;
    const int end = offsets[v + 1];
    for (int edge = offsets[v]; edge < end; ++edge) {
        sum += before[sources[edge]];
    }
    const float rank = (1.0f - kDamping) / static_cast<float>(vertices) + kDamping * sum;
    after[v] = last ? rank : rank / static_cast<float>(degrees[v]);
}

// A well-mixed 32-bit hash: the input is a function of the index alone.
static uint32_t hash32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

// FNV-1a over bytes.
static uint64_t checksum(const void* data, size_t bytes) {
    uint64_t sum = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

struct Graph {
    std::vector<int> offsets, sources, degrees;
};

// Most vertices have a few edges, a quarter of which go to the vertices of small number, so that a few have many that
// point to them. Every vertex has at least one successor.
static Graph random_graph(int vertices) {
    std::vector<std::vector<int>> incoming(vertices);
    Graph graph{{0}, {}, std::vector<int>(vertices)};
    for (int v = 0; v < vertices; ++v) {
        const uint32_t key = hash32(static_cast<uint32_t>(v));
        graph.degrees[v] = static_cast<int>(1 + key % 5 + (key >> 8) % 5);
        for (int e = 0; e < graph.degrees[v]; ++e) {
            const uint32_t draw = hash32(key + static_cast<uint32_t>(e));
            const uint64_t share = draw >> 12;  // of 2^20; its square leans to small numbers
            const uint64_t leaning = share * share >> 20;
            const uint64_t target = (draw % 4 == 0 ? leaning : share) * static_cast<uint64_t>(vertices) >> 20;
            incoming[target].push_back(v);
        }
    }
    for (const std::vector<int>& sources : incoming) {
        graph.sources.insert(graph.sources.end(), sources.begin(), sources.end());
        graph.offsets.push_back(static_cast<int>(graph.sources.size()));
    }
    return graph;
}

static std::vector<double> reference(const Graph& graph, int vertices, int rounds) {
    std::vector<double> ranks(vertices, 1.0 / vertices), next(vertices);
    for (int round = 0; round < rounds; ++round) {
        for (int v = 0; v < vertices; ++v) {
            double sum = 0.0;
            for (int edge = graph.offsets[v]; edge < graph.offsets[v + 1]; ++edge) {
                const int source = graph.sources[edge];
                sum += ranks[source] / graph.degrees[source];
            }
            next[v] = (1.0 - kDamping) / vertices + kDamping * sum;
        }
        std::swap(ranks, next);
    }
    return ranks;
}

template <typename T>
static T* device_copy(const std::vector<T>& host) {
    T* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int vertices = argc > 1 ? parse(argv[1], 1, 1 << 17) : 4000;
    const int rounds = argc > 2 ? parse(argv[2], 1, 1000) : 8;
    if (argc > 3 || vertices < 0 || rounds < 0) {
        std::fprintf(stderr, "usage: %s [vertices 1..131072] [rounds 1..1000]\n", argv[0]);
        return 2;
    }

    const Graph graph = random_graph(vertices);
    std::vector<float> result(vertices);
    for (int v = 0; v < vertices; ++v) {
        result[v] = 1.0f / static_cast<float>(vertices) / static_cast<float>(graph.degrees[v]);
    }
    int* offsets = device_copy(graph.offsets);
    int* sources = device_copy(graph.sources);
    int* degrees = device_copy(graph.degrees);
    float* before = device_copy(result);
    float* after = nullptr;
    const size_t bytes = vertices * sizeof(float);
    CUDA_CHECK(cudaMalloc(&after, bytes));

    for (int round = 1; round <= rounds; ++round) {
        pull<<<(vertices + kBlock - 1) / kBlock, kBlock>>>(offsets, sources, degrees, before, after, vertices,
                                                           round == rounds);
        CUDA_CHECK(cudaGetLastError());
        std::swap(before, after);
    }

    CUDA_CHECK(cudaMemcpy(result.data(), before, bytes, cudaMemcpyDeviceToHost));
    for (int* array : {offsets, sources, degrees}) {
        CUDA_CHECK(cudaFree(array));
    }
    CUDA_CHECK(cudaFree(before));
    CUDA_CHECK(cudaFree(after));

    const std::vector<double> expected = reference(graph, vertices, rounds);
    bool pass = true;
    for (int v = 0; v < vertices; ++v) {
        pass = pass && std::fabs(result[v] - expected[v]) <= 2e-5 * expected[v];  // a NaN does not pass
    }
    std::printf("pagerank %d vertices, %zu edges, %d rounds: highest rank %.6f, checksum 0x%016llx, %s\n", vertices,
                graph.sources.size(), rounds, *std::max_element(result.begin(), result.end()),
                static_cast<unsigned long long>(checksum(result.data(), bytes)), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
