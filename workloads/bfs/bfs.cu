// bfs: breadth-first search, the distance of every vertex of a directed graph from one source.
//
// The graph is in compressed rows (CSR): the edges of vertex v are targets[offsets[v]] to targets[offsets[v + 1] - 1].
// The host drives the search one level at a time with two kernels over all vertices: `expand` goes from the vertices of
// the frontier along their edges and marks what it has not seen, `settle` makes the marked vertices the next frontier
// and says whether there is one. The host reads that word back after every level and stops when nothing changed.
// Vertices that cannot be reached keep the distance -1.

#include <algorithm>
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

// Several vertices may mark the same target at once: all of them write the same values.
__global__ void expand(const int* __restrict__ offsets, const int* __restrict__ targets, const uint8_t* frontier,
                       const uint8_t* visited, uint8_t* next, int* distance, int vertices) {
    const int v = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (v >= vertices || !frontier[v]) {
        return;
    }
    const int reached = distance[v] + 1;
    const int end = offsets[v + 1];
    for (int edge = offsets[v]; edge < end; ++edge) {
        const int target = targets[edge];
        if (!visited[target]) {
            distance[target] = reached;
            next[target] = 1;
        }
    }
}

__global__ void settle(uint8_t* frontier, uint8_t* visited, uint8_t* next, int* changed, int vertices) {
    const int v = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (v >= vertices) {
        return;
    }
    const uint8_t found = next[v];
    frontier[v] = found;
    if (found) {
        visited[v] = 1;
        next[v] = 0;
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
};

// A small world: most vertices have a few edges to their neighbourhood, every tenth edge goes anywhere, and one vertex
// in a hundred is a hub of many edges.
static Graph random_graph(int vertices) {
    Graph graph{{0}, {}};
    for (int v = 0; v < vertices; ++v) {
        const uint32_t key = hash32(static_cast<uint32_t>(v));
        const uint32_t degree = key % 100 == 0 ? 40 + (key >> 8) % 40 : (key >> 8) % 4 + (key >> 16) % 4;
        for (uint32_t e = 0; e < degree; ++e) {
            const uint32_t draw = hash32(key + e);
            const int64_t near = v + static_cast<int64_t>((draw >> 8) % 101) - 50;
            const int64_t target = draw % 10 == 0 ? draw >> 4 : near + 50ll * vertices;  // never negative
            graph.targets.push_back(static_cast<int>(target % vertices));
        }
        graph.offsets.push_back(static_cast<int>(graph.targets.size()));
    }
    return graph;
}

static std::vector<int> reference(const Graph& graph, int vertices, int source) {
    std::vector<int> distance(vertices, -1), queue{source};
    distance[source] = 0;
    for (size_t head = 0; head < queue.size(); ++head) {
        const int v = queue[head];
        for (int edge = graph.offsets[v]; edge < graph.offsets[v + 1]; ++edge) {
            const int target = graph.targets[edge];
            if (distance[target] < 0) {
                distance[target] = distance[v] + 1;
                queue.push_back(target);
            }
        }
    }
    return distance;
}

template <typename T>
static T* device_array(size_t count) {
    T* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, std::max<size_t>(count, 1) * sizeof(T)));
    return device;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int vertices = argc > 1 ? parse(argv[1], 1, 1 << 20) : 6000;
    const int source = argc > 2 ? parse(argv[2], 0, vertices - 1) : 0;
    if (argc > 3 || vertices < 0 || source < 0) {
        std::fprintf(stderr, "usage: %s [vertices 1..1048576] [source 0..vertices-1]\n", argv[0]);
        return 2;
    }

    const Graph graph = random_graph(vertices);
    int* offsets = device_array<int>(graph.offsets.size());
    int* targets = device_array<int>(graph.targets.size());
    uint8_t* frontier = device_array<uint8_t>(vertices);
    uint8_t* visited = device_array<uint8_t>(vertices);
    uint8_t* next = device_array<uint8_t>(vertices);
    int* distance = device_array<int>(vertices);
    int* changed = device_array<int>(1);
    const auto bytes_of = [](const std::vector<int>& v) { return v.size() * sizeof(int); };
    CUDA_CHECK(cudaMemcpy(offsets, graph.offsets.data(), bytes_of(graph.offsets), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(targets, graph.targets.data(), bytes_of(graph.targets), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(frontier, 0, vertices));
    CUDA_CHECK(cudaMemset(visited, 0, vertices));
    CUDA_CHECK(cudaMemset(next, 0, vertices));
    CUDA_CHECK(cudaMemset(distance, 0xff, vertices * sizeof(int)));
    CUDA_CHECK(cudaMemset(frontier + source, 1, 1));
    CUDA_CHECK(cudaMemset(visited + source, 1, 1));
    CUDA_CHECK(cudaMemset(distance + source, 0, sizeof(int)));

    // No search has more levels than vertices, so this ends whatever comes back from the device.
    const int blocks = (vertices + kBlock - 1) / kBlock;
    int levels = 0;
    for (int again = 1; again && levels < vertices; ++levels) {
        CUDA_CHECK(cudaMemset(changed, 0, sizeof(int)));
        expand<<<blocks, kBlock>>>(offsets, targets, frontier, visited, next, distance, vertices);
        settle<<<blocks, kBlock>>>(frontier, visited, next, changed, vertices);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&again, changed, sizeof(int), cudaMemcpyDeviceToHost));
    }

    std::vector<int> result(vertices);
    CUDA_CHECK(cudaMemcpy(result.data(), distance, bytes_of(result), cudaMemcpyDeviceToHost));
    for (int* array : {offsets, targets, distance, changed}) {
        CUDA_CHECK(cudaFree(array));
    }
    for (uint8_t* array : {frontier, visited, next}) {
        CUDA_CHECK(cudaFree(array));
    }

    const bool pass = result == reference(graph, vertices, source);
    std::printf("bfs %d vertices, %zu edges: %d levels, %d reached, checksum 0x%016llx, %s\n", vertices,
                graph.targets.size(), levels,
                static_cast<int>(std::count_if(result.begin(), result.end(), [](int d) { return d >= 0; })),
                static_cast<unsigned long long>(checksum(result.data(), bytes_of(result))), pass ? "PASS" : "FAIL");
    return 0;  // the text says how it ended: a wrong result is a silent corruption, as where nobody checks
}
