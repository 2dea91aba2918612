// sssp: the length of the shortest path from one vertex of a directed graph with weights to every other.
//
// Rounds of relaxation: `relax` goes along the edges of the vertices whose distance fell in the last round and offers
// each target a distance, of which the target keeps the least; `settle` makes what was kept the distance and says
// whether anything changed. Distances are read from one array and offered to another, so neither the result nor the
// work depends on the order of threads. The edges of vertex v are in compressed rows (CSR): targets[offsets[v]] to
// targets[offsets[v + 1] - 1]. Vertices that cannot be reached keep the largest number as their distance.
//
// Work is divided by virtual warps: 8 neighbouring threads take 4 vertices. First each of them fetches a part of what
// is to be known of these vertices into shared memory, then all go through the edges of one vertex after another.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <queue>
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
constexpr int kVirtualWarp = 8;  // threads
constexpr int kBatch = 4;        // vertices of a virtual warp
constexpr int kVirtualWarps = kBlock / kVirtualWarp;
constexpr uint32_t kUnreached = UINT32_MAX;

// What a virtual warp knows of its vertices.
struct Batch {
    int offsets[kBatch + 1];
    uint32_t distances[kBatch];
    int active[kBatch];
};

__global__ void __launch_bounds__(kBlock)
relax(const int* __restrict__ offsets, const int* __restrict__ targets, const uint32_t* __restrict__ weights,
      const uint8_t* active, const uint32_t* distances, uint32_t* offers, int vertices) {
    __shared__ Batch batches[kVirtualWarps];

    const int lane = static_cast<int>(threadIdx.x) % kVirtualWarp;
    Batch& batch = batches[threadIdx.x / kVirtualWarp];
    const int first = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / kVirtualWarp) * kBatch;
    const int count = max(min(kBatch, vertices - first), 0);
    for (int i = lane; i < count; i += kVirtualWarp) {
        batch.distances[i] = distances[first + i];
        batch.active[i] = active[first + i];
    }
    for (int i = lane; i < count + 1; i += kVirtualWarp) {
        batch.offsets[i] = offsets[min(first + i, vertices)];
    }
    __syncwarp();

    for (int i = 0; i < count; ++i) {
        if (batch.active[i] == 0) {
            continue;
        }
        const uint32_t distance = batch.distances[i];
        const int end = batch.offsets[i + 1];
        for (int edge = batch.offsets[i] + lane; edge < end; edge += kVirtualWarp) {
            const int target = targets[edge];
            const uint32_t offer = distance + weights[edge];
            if (offer < distances[target]) {
                atomicMin(&offers[target], offer);
            }
        }
    }
}

__global__ void __launch_bounds__(kBlock)
settle(uint8_t* active, uint32_t* distances, const uint32_t* __restrict__ offers, int* changed, int vertices) {
    const int v = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (v >= vertices) {
        return;
    }
    const uint32_t offer = offers[v];
    const bool falls = offer < distances[v];
    active[v] = falls;
    if (falls) {
        distances[v] = offer;
        *changed = 1;
    }
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
    std::vector<int> offsets, targets;
    std::vector<uint32_t> weights;
};

// A road network of a kind: most edges go to near vertices, one in sixteen anywhere, one vertex in a hundred is a hub
// of many edges. Weights are from 1 to 64.
static Graph random_graph(int vertices) {
    Graph graph{{0}, {}, {}};
    for (int v = 0; v < vertices; ++v) {
        const uint32_t key = hash32(static_cast<uint32_t>(v));
        const uint32_t degree = key % 100 == 0 ? 30 + (key >> 8) % 40 : 1 + (key >> 8) % 4 + (key >> 16) % 3;
        for (uint32_t e = 0; e < degree; ++e) {
            const uint32_t draw = hash32(key + e);
            const int64_t near = v + static_cast<int64_t>((draw >> 8) % 81) - 40 + 40ll * vertices;  // never negative
            const int64_t target = draw % 16 == 0 ? draw >> 4 : near;
            graph.targets.push_back(static_cast<int>(target % vertices));
            graph.weights.push_back(1 + hash32(draw) % 64);
        }
        graph.offsets.push_back(static_cast<int>(graph.targets.size()));
    }
    return graph;
}

// By Dijkstra's algorithm.
static std::vector<uint32_t> reference(const Graph& graph, int vertices, int source) {
    using Entry = std::pair<uint32_t, int>;
    std::vector<uint32_t> distances(vertices, kUnreached);
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    distances[source] = 0;
    queue.emplace(0, source);
    while (!queue.empty()) {
        const auto [distance, v] = queue.top();
        queue.pop();
        for (int edge = graph.offsets[v]; distance == distances[v] && edge < graph.offsets[v + 1]; ++edge) {
            const uint32_t offer = distance + graph.weights[edge];
            if (offer < distances[graph.targets[edge]]) {
                distances[graph.targets[edge]] = offer;
                queue.emplace(offer, graph.targets[edge]);
            }
        }
    }
    return distances;
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
    const int vertices = argc > 1 ? parse(argv[1], 1, 1 << 20) : 3000;
    const int source = argc > 2 ? parse(argv[2], 0, vertices - 1) : 0;
    if (argc > 3 || vertices < 0 || source < 0) {
        std::fprintf(stderr, "usage: %s [vertices 1..1048576] [source 0..vertices-1]\n", argv[0]);
        return 2;
    }

    const Graph graph = random_graph(vertices);
    std::vector<uint32_t> result(vertices, kUnreached);
    std::vector<uint8_t> start(vertices, 0);
    result[source] = 0;
    start[source] = 1;
    int* offsets = device_copy(graph.offsets);
    int* targets = device_copy(graph.targets);
    uint32_t* weights = device_copy(graph.weights);
    uint32_t* distances = device_copy(result);
    uint32_t* offers = device_copy(result);
    uint8_t* active = device_copy(start);
    int* changed = device_copy(std::vector<int>{0});

    // A shortest path has fewer edges than there are vertices, so this ends whatever comes back from the device.
    const int of_vertices = (vertices + kBlock - 1) / kBlock;
    const int of_batches = (vertices + kVirtualWarps * kBatch - 1) / (kVirtualWarps * kBatch);
    int rounds = 0;
    for (int again = 1; again && rounds < vertices; ++rounds) {
        CUDA_CHECK(cudaMemset(changed, 0, sizeof(int)));
        relax<<<of_batches, kBlock>>>(offsets, targets, weights, active, distances, offers, vertices);
        settle<<<of_vertices, kBlock>>>(active, distances, offers, changed, vertices);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&again, changed, sizeof(int), cudaMemcpyDeviceToHost));
    }

    const size_t bytes = vertices * sizeof(uint32_t);
    CUDA_CHECK(cudaMemcpy(result.data(), distances, bytes, cudaMemcpyDeviceToHost));
    for (int* array : {offsets, targets, changed}) {
        CUDA_CHECK(cudaFree(array));
    }
    for (uint32_t* array : {weights, distances, offers}) {
        CUDA_CHECK(cudaFree(array));
    }
    CUDA_CHECK(cudaFree(active));

    const bool pass = result == reference(graph, vertices, source);
    const auto reached = std::count_if(result.begin(), result.end(), [](uint32_t d) { return d != kUnreached; });
    std::printf("sssp %d vertices, %zu edges: %d rounds, %d reached, checksum 0x%016llx, %s\n", vertices,
                graph.targets.size(), rounds, static_cast<int>(reached),
                static_cast<unsigned long long>(checksum(result.data(), bytes)), pass ? "PASS" : "FAIL");
    return 0;  // the text says how it ended: a wrong result is a silent corruption, as where nobody checks
}
