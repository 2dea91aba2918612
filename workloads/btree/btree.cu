// btree: look-ups in a B+ tree, single keys and ranges of keys, one block per query.
//
// The host builds the tree by inserting keys in random order. A node has room for as many keys as a block has threads;
// an entry of an inner node is the smallest key of a child and the child's number, one of a leaf is a key and the place
// of its record, and the records lie in the order of their keys. Free entries have a key above all others.
//
// At each level every thread compares the query with its own key and the next one: for one thread it lies in between,
// and that thread says where the block goes on. `find_k` does so for one key and gives the value of its record (-1 if
// there is none). `find_range_k` descends for both bounds of a range at once and gives the place of the first record
// that is not below the lower bound, and how many there are up to the upper one.

#include <algorithm>
#include <climits>
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

constexpr int kOrder = 64;      // entries of a node, and threads of a block
constexpr int kFree = INT_MAX;  // the key of an entry that is not in use

// Entry i of node n is at n * kOrder + i.
struct Tree {
    const int *keys, *links;
    int root, levels;
};

// Whether a thread's entry of a node is the last one that is not above the query; below the first, it is the first.
__device__ bool leads_to(const Tree& tree, int entry, int slot, int query) {
    const int next = slot + 1 < kOrder ? tree.keys[entry + 1] : kFree;
    return (slot == 0 || tree.keys[entry] <= query) && query < next;
}

__global__ void __launch_bounds__(kOrder)
find_k(Tree tree, const int* __restrict__ records, const int* __restrict__ queries, int* answers) {
    __shared__ int node;

    const int slot = static_cast<int>(threadIdx.x);
    const int query = queries[blockIdx.x];
    if (slot == 0) {
        node = tree.root;
    }
    __syncthreads();

    for (int level = 1; level < tree.levels; ++level) {
        const int entry = node * kOrder + slot;
        const bool leads = leads_to(tree, entry, slot, query);
        __syncthreads();  // everyone knows the node
        if (leads) {
            node = tree.links[entry];
        }
        __syncthreads();
    }

    const int entry = node * kOrder + slot;
    if (tree.keys[entry] == query) {
        answers[blockIdx.x] = records[tree.links[entry]];
    }
}

__global__ void __launch_bounds__(kOrder)
find_range_k(Tree tree, const int* __restrict__ lows, const int* __restrict__ highs, int* starts, int* counts) {
    __shared__ int low_node;
    __shared__ int high_node;
    __shared__ int first;

    const int slot = static_cast<int>(threadIdx.x);
    const int low = lows[blockIdx.x];
    const int high = highs[blockIdx.x];
    if (slot == 0) {
        low_node = tree.root;
        high_node = tree.root;
    }
    __syncthreads();

    for (int level = 1; level < tree.levels; ++level) {
        const int low_entry = low_node * kOrder + slot;
        const int high_entry = high_node * kOrder + slot;
        const bool low_leads = leads_to(tree, low_entry, slot, low);
        const bool high_leads = leads_to(tree, high_entry, slot, high);
        __syncthreads();  // everyone knows the nodes
        if (low_leads) {
            low_node = tree.links[low_entry];
        }
        if (high_leads) {
            high_node = tree.links[high_entry];
        }
        __syncthreads();
    }

    const int low_entry = low_node * kOrder + slot;
    if (leads_to(tree, low_entry, slot, low)) {
        first = tree.links[low_entry] + (tree.keys[low_entry] < low ? 1 : 0);
        starts[blockIdx.x] = first;
    }
    __syncthreads();
    const int high_entry = high_node * kOrder + slot;
    if (leads_to(tree, high_entry, slot, high)) {
        const int behind = tree.links[high_entry] + (tree.keys[high_entry] <= high ? 1 : 0);
        counts[blockIdx.x] = behind - first;
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

// FNV-1a over bytes, from the sum of the bytes before.
static uint64_t checksum(const void* data, size_t bytes, uint64_t sum = 0xcbf29ce484222325ull) {
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

struct Node {
    std::vector<int> keys, links;
};

// Inserts into the subtree of `levels` levels below `at`. Returns the node that was split off, to its right, or -1.
static int insert(std::vector<Node>& nodes, int at, int levels, int key, int link) {
    const auto place_of = [&](int wanted) {
        const std::vector<int>& keys = nodes[at].keys;
        return std::upper_bound(keys.begin(), keys.end(), wanted) - keys.begin();
    };
    int64_t place = place_of(key);
    if (levels > 1) {
        const int64_t child = std::max<int64_t>(place - 1, 0);
        nodes[at].keys[child] = std::min(nodes[at].keys[child], key);
        link = insert(nodes, nodes[at].links[child], levels - 1, key, link);
        if (link < 0) {
            return -1;
        }
        key = nodes[link].keys[0];
        place = child + 1;
    }
    nodes[at].keys.insert(nodes[at].keys.begin() + place, key);
    nodes[at].links.insert(nodes[at].links.begin() + place, link);
    if (nodes[at].keys.size() <= kOrder) {
        return -1;
    }
    Node right;
    const size_t half = nodes[at].keys.size() / 2;
    right.keys.assign(nodes[at].keys.begin() + half, nodes[at].keys.end());
    right.links.assign(nodes[at].links.begin() + half, nodes[at].links.end());
    nodes[at].keys.resize(half);
    nodes[at].links.resize(half);
    nodes.push_back(right);
    return static_cast<int>(nodes.size()) - 1;
}

struct HostTree {
    std::vector<int> keys, links;
    int root = 0, levels = 1;
};

// Of ascending keys, inserted in random order; the record of a key has its place.
static HostTree tree_of(const std::vector<int>& sorted) {
    std::vector<int> order(sorted.size());
    for (size_t i = 0; i < order.size(); ++i) {
        order[i] = static_cast<int>(i);
        std::swap(order[i], order[hash32(static_cast<uint32_t>(i)) % (i + 1)]);
    }
    HostTree tree;
    std::vector<Node> nodes(1);
    for (int place : order) {
        const int right = insert(nodes, tree.root, tree.levels, sorted[place], place);
        if (right >= 0) {
            nodes.push_back({{nodes[tree.root].keys[0], nodes[right].keys[0]}, {tree.root, right}});
            tree.root = static_cast<int>(nodes.size()) - 1;
            ++tree.levels;
        }
    }
    tree.keys.assign(nodes.size() * kOrder, kFree);
    tree.links.assign(nodes.size() * kOrder, 0);
    for (size_t node = 0; node < nodes.size(); ++node) {
        std::copy(nodes[node].keys.begin(), nodes[node].keys.end(), tree.keys.begin() + node * kOrder);
        std::copy(nodes[node].links.begin(), nodes[node].links.end(), tree.links.begin() + node * kOrder);
    }
    return tree;
}

static int* on_device(const std::vector<int>& host) {
    int* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, host.size() * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int count = argc > 1 ? parse(argv[1], 1, 1 << 20) : 4000;
    const int singles = argc > 2 ? parse(argv[2], 1, 65535) : 500;
    const int ranges = argc > 3 ? parse(argv[3], 1, 65535) : 250;
    if (argc > 4 || count < 0 || singles < 0 || ranges < 0) {
        std::fprintf(stderr, "usage: %s [keys 1..1048576] [queries 1..65535] [ranges 1..65535]\n", argv[0]);
        return 2;
    }

    // Keys with gaps of 1 to 32; of the queries one in eight is for a key that is most likely not there.
    std::vector<int> keys(count), records(count);
    int key = 1000;
    for (int i = 0; i < count; ++i) {
        keys[i] = key += 1 + hash32(i) % 32;
        records[i] = static_cast<int>(hash32(~static_cast<uint32_t>(i)) >> 8);
    }
    std::vector<int> queries(singles), lows(ranges), highs(ranges);
    for (int i = 0; i < singles; ++i) {
        const uint32_t draw = hash32(0x10000000u + i);
        queries[i] = i % 8 == 7 ? static_cast<int>(draw % (key + 1000)) : keys[draw % count];
    }
    for (int i = 0; i < ranges; ++i) {
        const uint32_t draw = hash32(0x20000000u + i);
        lows[i] = static_cast<int>(draw % (key + 1000));
        highs[i] = lows[i] + static_cast<int>(hash32(draw) % (key / 16));
    }

    const HostTree tree = tree_of(keys);
    int* device_keys = on_device(tree.keys);
    int* device_links = on_device(tree.links);
    int* device_records = on_device(records);
    int* device_queries = on_device(queries);
    int* device_lows = on_device(lows);
    int* device_highs = on_device(highs);
    int* device_answers = nullptr;
    int* device_starts = nullptr;
    int* device_counts = nullptr;
    const size_t single_bytes = singles * sizeof(int), range_bytes = ranges * sizeof(int);
    CUDA_CHECK(cudaMalloc(&device_answers, single_bytes));
    CUDA_CHECK(cudaMalloc(&device_starts, range_bytes));
    CUDA_CHECK(cudaMalloc(&device_counts, range_bytes));
    CUDA_CHECK(cudaMemset(device_answers, 0xff, single_bytes));

    const Tree device_tree = {device_keys, device_links, tree.root, tree.levels};
    find_k<<<singles, kOrder>>>(device_tree, device_records, device_queries, device_answers);
    find_range_k<<<ranges, kOrder>>>(device_tree, device_lows, device_highs, device_starts, device_counts);
    CUDA_CHECK(cudaGetLastError());

    std::vector<int> answers(singles), starts(ranges), counts(ranges);
    CUDA_CHECK(cudaMemcpy(answers.data(), device_answers, single_bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(starts.data(), device_starts, range_bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(counts.data(), device_counts, range_bytes, cudaMemcpyDeviceToHost));
    for (int* array : {device_keys, device_links, device_records, device_queries, device_lows, device_highs,
                       device_answers, device_starts, device_counts}) {
        CUDA_CHECK(cudaFree(array));
    }

    // Against binary search in the sorted keys.
    bool pass = true;
    for (int i = 0; i < singles; ++i) {
        const auto found = std::lower_bound(keys.begin(), keys.end(), queries[i]);
        const bool there = found != keys.end() && *found == queries[i];
        pass = pass && answers[i] == (there ? records[found - keys.begin()] : -1);
    }
    for (int i = 0; i < ranges; ++i) {
        const auto first = std::lower_bound(keys.begin(), keys.end(), lows[i]);
        const auto behind = std::upper_bound(keys.begin(), keys.end(), highs[i]);
        pass = pass && starts[i] == first - keys.begin() && counts[i] == behind - first;
    }
    uint64_t sum = checksum(answers.data(), single_bytes);
    sum = checksum(starts.data(), range_bytes, sum);
    sum = checksum(counts.data(), range_bytes, sum);
    std::printf("btree %d keys, %d levels: %d of %d queries found, longest of %d ranges %d, checksum 0x%016llx, %s\n",
                count, tree.levels,
                static_cast<int>(std::count_if(answers.begin(), answers.end(), [](int value) { return value >= 0; })),
                singles, ranges, *std::max_element(counts.begin(), counts.end()),
                static_cast<unsigned long long>(sum), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
