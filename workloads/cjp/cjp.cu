// cjp: a colouring of an undirected graph, no two neighbours alike, by the method of Jones and Plassmann with counters.
//
// Every vertex has a priority and waits for its neighbours of higher priority: a counter says for how many, and at zero
// the vertex is ready. It then takes the smallest colour that none of its neighbours has and counts one less for each
// neighbour of lower priority. The colours depend on the priorities alone, not on the order among those that are ready.
//
// One block of threads does it all, level by level. Thread 0 splits what is ready between the warps. For each vertex
// the lanes of a warp divide the neighbours between them, and each gathers their colours in a set of 256 bits of its
// own; lane 0 takes the smallest colour that is not in the union, gives it to the vertex and notifies the neighbours.
// Should all 256 be taken, the warp goes on to a second phase, that of the colours from 256 on, and so forth.
//
// The graph is read from a file in Matrix Market form; without one it is the graph that `--generate` prints.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
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

constexpr int kWarp = 32;
constexpr int kWarps = 4;
constexpr int kBlock = kWarps * kWarp;
constexpr int kColors = 256;  // colours of a phase
constexpr unsigned kAll = 0xffffffffu;

using Set64 = unsigned long long;

__device__ Set64 union_of_warp(Set64 set) {
    const unsigned low = __reduce_or_sync(kAll, static_cast<unsigned>(set));
    const unsigned high = __reduce_or_sync(kAll, static_cast<unsigned>(set >> 32));
    return static_cast<Set64>(high) << 32 | low;
}

// The smallest number that is not in the set; 64 if there is none.
__device__ int smallest_missing(Set64 set) { return set == ~0ull ? 64 : __ffsll(static_cast<long long>(~set)) - 1; }

// Among vertices of one priority, the first counts as the higher one.
__host__ __device__ inline bool before(const int* priorities, int a, int b) {
    return priorities[a] > priorities[b] || (priorities[a] == priorities[b] && a < b);
}

// The neighbours of vertex v are targets[offsets[v]] to targets[offsets[v + 1] - 1]. `waiting` counts those of higher
// priority that have no colour, which is -1. The queue has a place for every vertex: they come level after level.
__global__ void __launch_bounds__(kBlock)
color_graph(const int* offsets, const int* targets, const int* priorities, int* waiting, int* colors, int* queue,
            int* colors_used, int vertices) {
    __shared__ int first[kWarps + 1];  // where the share of each warp begins in the queue
    __shared__ int tail;               // where the queue ends

    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    if (threadIdx.x == 0) {
        *colors_used = 0;
        tail = 0;
        for (int v = 0; v < vertices; ++v) {
            const int counter = waiting[v];
            if (counter == 0) {
                queue[tail++] = v;
            }
        }
    }

    for (int end = 0;;) {
        __syncthreads();
        if (threadIdx.x == 0) {
            const int begin = end;
            end = tail;
            const int share = (end - begin + kWarps - 1) / kWarps;
            for (int w = 0; w <= kWarps; ++w) {
                first[w] = min(begin + w * share, end);
            }
        }
        __syncthreads();
        if (first[0] == first[kWarps]) {
            break;
        }

        for (int at = first[warp]; at < first[warp + 1]; ++at) {
            const int v = queue[at];
            const int edges_begin = offsets[v];
            const int edges_end = offsets[v + 1];

            int base = -kColors;
            int color = kColors;
            while (color >= kColors) {
                base += kColors;
                Set64 taken0 = 0, taken1 = 0, taken2 = 0, taken3 = 0;
                for (int edge = edges_begin + lane; edge < edges_end; edge += kWarp) {
                    const int theirs = colors[targets[edge]] - base;
                    if (0 <= theirs && theirs < kColors) {
                        const Set64 bit = 1ull << (theirs % 64);
                        taken0 |= theirs / 64 == 0 ? bit : 0;
                        taken1 |= theirs / 64 == 1 ? bit : 0;
                        taken2 |= theirs / 64 == 2 ? bit : 0;
                        taken3 |= theirs / 64 == 3 ? bit : 0;
                    }
                }
                taken0 = union_of_warp(taken0);
                taken1 = union_of_warp(taken1);
                taken2 = union_of_warp(taken2);
                taken3 = union_of_warp(taken3);
                if (lane == 0) {
                    color = taken0 != ~0ull   ? smallest_missing(taken0)
                            : taken1 != ~0ull ? smallest_missing(taken1) + 64
                            : taken2 != ~0ull ? smallest_missing(taken2) + 128
                                              : smallest_missing(taken3) + 192;
                }
                color = __shfl_sync(kAll, color, 0);
            }

            if (lane == 0) {
                colors[v] = base + color;
                atomicMax(colors_used, base + color + 1);
                for (int edge = edges_begin; edge < edges_end; ++edge) {
                    const int neighbour = targets[edge];
                    if (before(priorities, v, neighbour)) {
                        if (atomicSub(&waiting[neighbour], 1) == 1) {
                            queue[atomicAdd(&tail, 1)] = neighbour;
                        }
                    }
                }
            }
        }
    }
}

// A well-mixed 32-bit hash: priorities and the graph are functions of the indices alone.
static uint32_t hash32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

// True in `percent` of all cases.
static bool chance(uint32_t key, int percent) { return hash32(key) % 100 < static_cast<uint32_t>(percent); }

// FNV-1a over bytes.
static uint64_t checksum(const void* data, size_t bytes) {
    uint64_t sum = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

using Edge = std::pair<int, int>;  // the larger vertex first

struct Graph {
    std::vector<int> offsets, targets;
    int vertices() const { return static_cast<int>(offsets.size()) - 1; }
};

// Communities of twenty, from sparse to dense, with an edge here and there between them and a few hubs.
static std::vector<Edge> random_edges(int vertices) {
    constexpr int kCommunity = 20;
    std::vector<Edge> edges;
    for (int a = 0; a < vertices; ++a) {
        for (int b = 0; b < a; ++b) {
            const uint32_t key = hash32(static_cast<uint32_t>(a)) + static_cast<uint32_t>(b);
            const bool hub = a % 71 == 70 || b % 71 == 70;
            const bool together = a / kCommunity == b / kCommunity;
            const int density = 25 + 75 * (a / kCommunity) * kCommunity / vertices;
            if (chance(key, hub ? 15 : together ? density : 0) || hash32(~key) % 1000 < 5) {
                edges.emplace_back(a, b);
            }
        }
    }
    return edges;
}

static void print_matrix_market(const std::vector<Edge>& edges, int vertices) {
    std::printf("%%%%MatrixMarket matrix coordinate pattern symmetric\n");
    std::printf("%% Communities of twenty and a few hubs, made by `cjp --generate`.\n");
    std::printf("%d %d %zu\n", vertices, vertices, edges.size());
    for (const auto& [a, b] : edges) {
        std::printf("%d %d\n", a + 1, b + 1);
    }
}

[[noreturn]] static void refuse(const char* path, const char* why) {
    std::fprintf(stderr, "%s: %s\n", path, why);
    std::exit(2);
}

// The edges of a symmetric pattern in coordinates; what lies on the diagonal is left out.
static std::vector<Edge> read_matrix_market(const char* path, int& vertices) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) {
        refuse(path, "cannot be read");
    }
    if (line.rfind("%%MatrixMarket matrix coordinate pattern symmetric", 0) != 0) {
        refuse(path, "is no symmetric pattern in coordinates of a Matrix Market file");
    }
    while (std::getline(file, line) && (line.empty() || line[0] == '%')) {
    }
    int rows = 0, cols = 0, count = 0;
    if (!(std::istringstream(line) >> rows >> cols >> count) || rows != cols || rows < 1 || count < 0) {
        refuse(path, "does not say its size");
    }
    vertices = rows;
    std::vector<Edge> edges;
    for (int i = 0; i < count; ++i) {
        int a = 0, b = 0;
        if (!(file >> a >> b) || a < 1 || a > rows || b < 1 || b > rows) {
            refuse(path, "has fewer entries than it says, or some outside of it");
        }
        if (a != b) {
            edges.emplace_back(std::max(a, b) - 1, std::min(a, b) - 1);
        }
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
}

static Graph compressed_rows(const std::vector<Edge>& edges, int vertices) {
    std::vector<std::vector<int>> neighbours(vertices);
    for (const auto& [a, b] : edges) {
        neighbours[a].push_back(b);
        neighbours[b].push_back(a);
    }
    Graph graph{{0}, {}};
    for (const std::vector<int>& row : neighbours) {
        graph.targets.insert(graph.targets.end(), row.begin(), row.end());
        graph.offsets.push_back(static_cast<int>(graph.targets.size()));
    }
    return graph;
}

// The greedy colouring of the vertices in the order of their priorities.
static std::vector<int> reference(const Graph& graph, const std::vector<int>& priorities) {
    std::vector<int> order(graph.vertices()), colors(graph.vertices(), -1);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) { return before(priorities.data(), a, b); });
    for (const int v : order) {
        std::vector<bool> taken(graph.vertices());
        for (int edge = graph.offsets[v]; edge < graph.offsets[v + 1]; ++edge) {
            const int theirs = colors[graph.targets[edge]];
            if (theirs >= 0) {
                taken[theirs] = true;
            }
        }
        colors[v] = static_cast<int>(std::find(taken.begin(), taken.end(), false) - taken.begin());
    }
    return colors;
}

// No vertex without a colour, and none with that of a neighbour.
static bool valid(const Graph& graph, const std::vector<int>& colors) {
    for (int v = 0; v < graph.vertices(); ++v) {
        for (int edge = graph.offsets[v]; edge < graph.offsets[v + 1]; ++edge) {
            if (colors[graph.targets[edge]] == colors[v]) {
                return false;
            }
        }
    }
    return std::all_of(colors.begin(), colors.end(), [](int color) { return color >= 0; });
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

int main(int argc, char** argv) {
    int vertices = 300;
    std::vector<Edge> edges = random_edges(vertices);
    if (argc > 2 || (argc == 2 && argv[1][0] == '-' && std::strcmp(argv[1], "--generate") != 0)) {
        std::fprintf(stderr, "usage: %s [--generate | graph.mtx]\n", argv[0]);
        return 2;
    }
    if (argc == 2 && argv[1][0] == '-') {
        print_matrix_market(edges, vertices);
        return 0;
    }
    if (argc == 2) {
        edges = read_matrix_market(argv[1], vertices);
    }
    const Graph graph = compressed_rows(edges, vertices);

    // Some share a priority.
    std::vector<int> priorities(vertices), waiting(vertices);
    for (int v = 0; v < vertices; ++v) {
        priorities[v] = static_cast<int>(hash32(static_cast<uint32_t>(v)) >> 24);
    }
    for (const auto& [a, b] : edges) {
        ++waiting[before(priorities.data(), a, b) ? b : a];
    }

    int* offsets = to_device(graph.offsets);
    int* targets = to_device(graph.targets);
    int* device_priorities = to_device(priorities);
    int* device_waiting = to_device(waiting);
    int* device_colors = to_device(std::vector<int>(vertices, -1));
    int* queue = to_device(std::vector<int>(vertices, -1));
    int* colors_used = to_device(std::vector<int>(1, 0));
    color_graph<<<1, kBlock>>>(offsets, targets, device_priorities, device_waiting, device_colors, queue, colors_used,
                               vertices);
    CUDA_CHECK(cudaGetLastError());

    const std::vector<int> colors = to_host(device_colors, vertices);
    const int used = to_host(colors_used, 1)[0];
    for (int* array : {offsets, targets, device_priorities, device_waiting, device_colors, queue, colors_used}) {
        CUDA_CHECK(cudaFree(array));
    }

    const bool pass = valid(graph, colors) && colors == reference(graph, priorities) &&
                      used == *std::max_element(colors.begin(), colors.end()) + 1;
    std::printf("cjp %d vertices, %zu edges: %d colours, checksum 0x%016llx, %s\n", vertices, edges.size(), used,
                static_cast<unsigned long long>(checksum(colors.data(), colors.size() * sizeof(int))),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
