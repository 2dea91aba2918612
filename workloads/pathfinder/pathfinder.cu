// pathfinder: the cheapest way down a grid, by dynamic programming.
//
// Every cell of a `rows` x `cols` wall has a weight. A path starts anywhere in the first row and goes down one row at a
// time, straight or one column to either side; `cost[r][c]` is the weight of the cheapest path that ends in that cell:
//
//     cost[0][c] = wall[0][c]
//     cost[r][c] = wall[r][c] + min(cost[r-1][c-1], cost[r-1][c], cost[r-1][c+1])
//
// The result is the last row of costs. A launch advances several rows at once: a block loads `kBlock` columns into
// shared memory, and with every row the columns it can still know shrink by one on either side (a pyramid), so that
// neighbouring blocks overlap by a halo instead of talking to each other.

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

constexpr int kBlock = 128;                   // threads of a block, and columns it loads
constexpr int kHeight = 5;                    // rows a launch advances at most: the height of the pyramid
constexpr int kOwned = kBlock - 2 * kHeight;  // columns a block is sure of at the top, and writes

__global__ void __launch_bounds__(kBlock)
advance_rows(const int* __restrict__ wall, const int* __restrict__ before, int* __restrict__ after, int cols,
             int first_row, int steps) {
    __shared__ int cost[kBlock];

    const int here = static_cast<int>(threadIdx.x);
    const int col = static_cast<int>(blockIdx.x) * kOwned + here - kHeight;
    const bool inside = 0 <= col && col < cols;

    // The base of the pyramid. Beyond the edges of the wall nothing is ever cheaper.
    cost[here] = inside ? before[col] : INT_MAX;
    __syncthreads();

    for (int step = 1; step <= steps; ++step) {
        const bool known = inside && step <= here && here < kBlock - step;
        int best = 0;
        if (known) {
            best = min(cost[here], min(cost[here - 1], cost[here + 1]));
            best += wall[(first_row + step - 1) * cols + col];
        }
        __syncthreads();  // everyone has read the row above
        if (known) {
            cost[here] = best;
        }
        __syncthreads();  // everyone has written this one
    }

    if (inside && kHeight <= here && here < kBlock - kHeight) {
        after[col] = cost[here];
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

static std::vector<int> reference(const std::vector<int>& wall, int rows, int cols) {
    std::vector<int> cost(wall.begin(), wall.begin() + cols);
    for (int r = 1; r < rows; ++r) {
        const std::vector<int> above = cost;
        for (int c = 0; c < cols; ++c) {
            const int left = above[std::max(c - 1, 0)];
            const int right = above[std::min(c + 1, cols - 1)];
            cost[c] = wall[r * cols + c] + std::min({left, above[c], right});
        }
    }
    return cost;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int rows = argc > 1 ? parse(argv[1], 2, 4096) : 43;
    const int cols = argc > 2 ? parse(argv[2], 1, 16384) : 2000;
    if (argc > 3 || rows < 0 || cols < 0) {
        std::fprintf(stderr, "usage: %s [rows 2..4096] [cols 1..16384]\n", argv[0]);
        return 2;
    }

    std::vector<int> wall(static_cast<size_t>(rows) * cols);
    for (size_t i = 0; i < wall.size(); ++i) {
        wall[i] = static_cast<int>(hash32(static_cast<uint32_t>(i)) % 10);
    }

    int* device_wall = nullptr;  // the rows below the first
    int* before = nullptr;
    int* after = nullptr;
    const size_t row_bytes = cols * sizeof(int);
    CUDA_CHECK(cudaMalloc(&device_wall, row_bytes * (rows - 1)));
    CUDA_CHECK(cudaMalloc(&before, row_bytes));
    CUDA_CHECK(cudaMalloc(&after, row_bytes));
    CUDA_CHECK(cudaMemcpy(device_wall, wall.data() + cols, row_bytes * (rows - 1), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(before, wall.data(), row_bytes, cudaMemcpyHostToDevice));

    const int blocks = (cols + kOwned - 1) / kOwned;
    for (int row = 0; row < rows - 1; row += kHeight) {
        advance_rows<<<blocks, kBlock>>>(device_wall, before, after, cols, row, std::min(kHeight, rows - 1 - row));
        CUDA_CHECK(cudaGetLastError());
        std::swap(before, after);
    }

    std::vector<int> cost(cols);
    CUDA_CHECK(cudaMemcpy(cost.data(), before, row_bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_wall));
    CUDA_CHECK(cudaFree(before));
    CUDA_CHECK(cudaFree(after));

    const bool pass = cost == reference(wall, rows, cols);
    std::printf("pathfinder %d rows x %d columns: cheapest %d, checksum 0x%016llx, %s\n", rows, cols,
                *std::min_element(cost.begin(), cost.end()),
                static_cast<unsigned long long>(checksum(cost.data(), row_bytes)), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
