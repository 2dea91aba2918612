// scan: the exclusive prefix sum of an array of integers, modulo 2^32.
//
// A block scans a tile in shared memory with as many additions as the tile has elements, twice: up a balanced tree of
// partial sums, then down again, where each node hands its left child what comes before it and its right child that and
// the left child's sum. The sum of the whole tile goes to a second array, which is scanned in the same way; then what
// comes before a tile is added to each of its elements. Arrays are padded with zeros to whole tiles.

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

constexpr int kBlock = 256;
constexpr int kTile = 2 * kBlock;  // elements a block scans

// In place.
__global__ void __launch_bounds__(kBlock) scan_tiles(uint32_t* elements, uint32_t* tile_sums) {
    __shared__ uint32_t tree[kTile];

    const int thread = static_cast<int>(threadIdx.x);
    uint32_t* tile = elements + blockIdx.x * kTile;
    tree[thread] = tile[thread];
    tree[thread + kBlock] = tile[thread + kBlock];

    // Up: the last element of each node becomes the sum of the node.
    int width = 1;
    for (int nodes = kBlock; nodes > 0; nodes /= 2) {
        __syncthreads();
        if (thread < nodes) {
            const int left = width * (2 * thread + 1) - 1;
            tree[left + width] += tree[left];
        }
        width *= 2;
    }
    if (thread == 0) {
        tile_sums[blockIdx.x] = tree[kTile - 1];
        tree[kTile - 1] = 0;
    }

    // Down: the last element of each node becomes the sum of all that comes before the node.
    for (int nodes = 1; nodes <= kBlock; nodes *= 2) {
        width /= 2;
        __syncthreads();
        if (thread < nodes) {
            const int left = width * (2 * thread + 1) - 1;
            const uint32_t before = tree[left + width];
            tree[left + width] = before + tree[left];
            tree[left] = before;
        }
    }
    __syncthreads();

    tile[thread] = tree[thread];
    tile[thread + kBlock] = tree[thread + kBlock];
}

__global__ void __launch_bounds__(kBlock) add_before(uint32_t* elements, const uint32_t* __restrict__ before_tile) {
    const uint32_t before = before_tile[blockIdx.x];
    uint32_t* tile = elements + blockIdx.x * kTile;
    tile[threadIdx.x] += before;
    tile[threadIdx.x + kBlock] += before;
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

// Zeros, as many whole tiles as `count` elements need.
static uint32_t* padded_array(int count) {
    uint32_t* device = nullptr;
    const size_t bytes = (count + kTile - 1) / kTile * kTile * sizeof(uint32_t);
    CUDA_CHECK(cudaMalloc(&device, bytes));
    CUDA_CHECK(cudaMemset(device, 0, bytes));
    return device;
}

// Scans a padded array in place.
static void scan(uint32_t* elements, int count) {
    const int tiles = (count + kTile - 1) / kTile;
    uint32_t* tile_sums = padded_array(tiles);
    scan_tiles<<<tiles, kBlock>>>(elements, tile_sums);
    CUDA_CHECK(cudaGetLastError());
    if (tiles > 1) {
        scan(tile_sums, tiles);
        add_before<<<tiles, kBlock>>>(elements, tile_sums);
        CUDA_CHECK(cudaGetLastError());
    }
    CUDA_CHECK(cudaFree(tile_sums));
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int count = argc > 1 ? parse(argv[1], 1, 1 << 20) : 12000;
    const int bits = argc > 2 ? parse(argv[2], 1, 32) : 12;
    if (argc > 3 || count < 0 || bits < 0) {
        std::fprintf(stderr, "usage: %s [elements 1..1048576] [bits of an element 1..32]\n", argv[0]);
        return 2;
    }

    std::vector<uint32_t> input(count), result(count);
    for (int i = 0; i < count; ++i) {
        input[i] = hash32(static_cast<uint32_t>(i)) >> (32 - bits);
    }

    uint32_t* elements = padded_array(count);
    const size_t bytes = count * sizeof(uint32_t);
    CUDA_CHECK(cudaMemcpy(elements, input.data(), bytes, cudaMemcpyHostToDevice));
    scan(elements, count);
    CUDA_CHECK(cudaMemcpy(result.data(), elements, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(elements));

    bool pass = true;
    uint32_t before = 0;
    for (int i = 0; i < count; ++i) {
        pass = pass && result[i] == before;
        before += input[i];
    }
    std::printf("scan %d elements of %d bits: last prefix %u, checksum 0x%016llx, %s\n", count, bits, result.back(),
                static_cast<unsigned long long>(checksum(result.data(), bytes)), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
