// mergesort: a stable sort of pairs of a key and a value by merging, each element finding its place on its own.
//
// The place of an element in the union of two sorted runs is its place in its own run and the number of elements of the
// other run that go before it, which a binary search counts: for an element of the left run those smaller than it, for
// one of the right run also those equal to it. `sort_tiles` sorts tiles in shared memory, a thread for two elements,
// by runs of 1, 2, 4 and so on up to half the tile; all threads do the same work. `merge_runs` then merges runs in
// global memory, a launch for each doubling, a thread for one element.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
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

constexpr int kBlock = 256;
constexpr int kTile = 2 * kBlock;  // elements a block sorts

// How many keys of a sorted run go before `key`: those smaller and, if `ties`, those equal. `step` is a power of two,
// not below the length; the number of rounds depends on it alone.
__device__ int rank_in(const uint32_t* run, int length, int step, uint32_t key, bool ties) {
    int before = 0;
    for (; step > 0; step /= 2) {
        const int candidate = min(before + step, length);
        const uint32_t last = candidate > 0 ? run[candidate - 1] : 0;
        const bool goes = ties ? last <= key : last < key;
        before = candidate > 0 && goes ? candidate : before;
    }
    return before;
}

__global__ void __launch_bounds__(kBlock)
sort_tiles(const uint32_t* __restrict__ keys_in, const uint32_t* __restrict__ values_in, uint32_t* keys_out,
           uint32_t* values_out, int count) {
    __shared__ uint32_t keys[kTile], values[kTile];

    const int thread = static_cast<int>(threadIdx.x);
    const int first = static_cast<int>(blockIdx.x) * kTile + thread;
    const int second = first + kBlock;
    // What is missing in the last tile sorts behind everything: it has the largest key, and the sort is stable.
    keys[thread] = first < count ? keys_in[first] : UINT32_MAX;
    values[thread] = first < count ? values_in[first] : 0;
    keys[thread + kBlock] = second < count ? keys_in[second] : UINT32_MAX;
    values[thread + kBlock] = second < count ? values_in[second] : 0;

    for (int run = 1; run < kTile; run *= 2) {
        const int within = thread & (run - 1);
        uint32_t* left = keys + 2 * (thread - within);
        uint32_t* right = left + run;
        uint32_t* of_left = values + 2 * (thread - within);
        __syncthreads();
        const uint32_t left_key = left[within], left_value = of_left[within];
        const uint32_t right_key = right[within], right_value = of_left[run + within];
        const int left_place = within + rank_in(right, run, run, left_key, false);
        const int right_place = within + rank_in(left, run, run, right_key, true);
        __syncthreads();
        left[left_place] = left_key;
        of_left[left_place] = left_value;
        left[right_place] = right_key;
        of_left[right_place] = right_value;
    }
    __syncthreads();

    if (first < count) {
        keys_out[first] = keys[thread];
        values_out[first] = values[thread];
    }
    if (second < count) {
        keys_out[second] = keys[thread + kBlock];
        values_out[second] = values[thread + kBlock];
    }
}

// Merges pairs of neighbouring runs; the last run may be shorter or have no neighbour.
__global__ void __launch_bounds__(kBlock)
merge_runs(const uint32_t* __restrict__ keys_in, const uint32_t* __restrict__ values_in, uint32_t* keys_out,
           uint32_t* values_out, int run, int count) {
    const int element = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (element >= count) {
        return;
    }
    const int within = element & (run - 1);
    const int own = element - within;
    const bool in_right = (own & run) != 0;
    const int other = in_right ? own - run : own + run;
    const int length = max(min(run, count - other), 0);

    const uint32_t key = keys_in[element];
    const int before = rank_in(keys_in + other, length, run, key, in_right);

    const int place = min(own, other) + within + before;
    keys_out[place] = key;
    values_out[place] = values_in[element];
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

static uint32_t* device_array(size_t count) {
    uint32_t* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, count * sizeof(uint32_t)));
    return device;
}

// Sorted, a permutation, and equal keys in the order in which they came: only one result is right.
static bool check(const std::vector<uint32_t>& input, const std::vector<uint32_t>& keys,
                  const std::vector<uint32_t>& values) {
    std::vector<uint32_t> order(input.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return input[a] < input[b]; });
    bool same = values == order;
    for (size_t i = 0; i < input.size(); ++i) {
        same = same && keys[i] == input[order[i]];
    }
    return same;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int count = argc > 1 ? parse(argv[1], 1, 1 << 20) : 4096;
    const int distinct = argc > 2 ? parse(argv[2], 1, 1 << 30) : 20000;
    if (argc > 3 || count < 0 || distinct < 0) {
        std::fprintf(stderr, "usage: %s [elements 1..1048576] [distinct keys 1..1073741824]\n", argv[0]);
        return 2;
    }

    std::vector<uint32_t> input(count), values(count), keys(count);
    std::iota(values.begin(), values.end(), 0u);
    for (int i = 0; i < count; ++i) {
        input[i] = hash32(static_cast<uint32_t>(i)) % static_cast<uint32_t>(distinct);
    }

    uint32_t* from_keys = device_array(count);
    uint32_t* from_values = device_array(count);
    uint32_t* to_keys = device_array(count);
    uint32_t* to_values = device_array(count);
    const size_t bytes = count * sizeof(uint32_t);
    CUDA_CHECK(cudaMemcpy(from_keys, input.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(from_values, values.data(), bytes, cudaMemcpyHostToDevice));

    sort_tiles<<<(count + kTile - 1) / kTile, kBlock>>>(from_keys, from_values, to_keys, to_values, count);
    CUDA_CHECK(cudaGetLastError());
    int passes = 0;
    for (int run = kTile; run < count; run *= 2, ++passes) {
        std::swap(from_keys, to_keys);
        std::swap(from_values, to_values);
        merge_runs<<<(count + kBlock - 1) / kBlock, kBlock>>>(from_keys, from_values, to_keys, to_values, run, count);
        CUDA_CHECK(cudaGetLastError());
    }

    CUDA_CHECK(cudaMemcpy(keys.data(), to_keys, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(values.data(), to_values, bytes, cudaMemcpyDeviceToHost));
    for (uint32_t* array : {from_keys, from_values, to_keys, to_values}) {
        CUDA_CHECK(cudaFree(array));
    }

    const bool pass = check(input, keys, values);
    const uint64_t sum = checksum(values.data(), bytes, checksum(keys.data(), bytes));
    std::printf("mergesort %d elements: %d passes, keys %u..%u, checksum 0x%016llx, %s\n", count, passes, keys.front(),
                keys.back(), static_cast<unsigned long long>(sum), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
