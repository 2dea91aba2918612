// transpose: the transpose of a matrix through tiles in shared memory, blocks reordered along diagonals.
//
// A block reads one tile row by row and writes it column by column; a column more than needed keeps the threads of a
// warp in different banks. Blocks that run at the same time would read from, or write to, one partition of the memory
// when they are neighbours in a row or a column. So the grid is not taken as it is: consecutive blocks go to tiles
// along a diagonal. In a square grid one addition does it; otherwise the blocks are numbered first.

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

constexpr int kTile = 16;

__global__ void __launch_bounds__(kTile* kTile)
transpose(const float* __restrict__ in, float* __restrict__ out, int rows, int cols) {
    __shared__ float tile[kTile][kTile + 1];

    unsigned tile_row = blockIdx.x;
    unsigned tile_col = (blockIdx.x + blockIdx.y) % gridDim.x;
    if (rows != cols) {
        const unsigned number = blockIdx.y * gridDim.x + blockIdx.x;
        tile_row = number % gridDim.y;
        tile_col = (number / gridDim.y + tile_row) % gridDim.x;
    }

    const unsigned x = threadIdx.x;
    const unsigned y = threadIdx.y;
    tile[y][x] = in[(tile_row * kTile + y) * cols + tile_col * kTile + x];
    __syncthreads();
    out[(tile_col * kTile + y) * rows + tile_row * kTile + x] = tile[x][y];
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

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int tiles_down = argc > 1 ? parse(argv[1], 1, 128) : 8;
    const int tiles_across = argc > 2 ? parse(argv[2], 1, 128) : 8;
    if (argc > 3 || tiles_down < 0 || tiles_across < 0) {
        std::fprintf(stderr, "usage: %s [tiles down 1..128] [tiles across 1..128]\n", argv[0]);
        return 2;
    }

    // Multiples of 2^-12 in [0, 1).
    const int rows = tiles_down * kTile, cols = tiles_across * kTile;
    std::vector<float> matrix(static_cast<size_t>(rows) * cols), result(matrix.size());
    for (size_t i = 0; i < matrix.size(); ++i) {
        matrix[i] = static_cast<float>(hash32(static_cast<uint32_t>(i)) >> 20) * (1.0f / 4096.0f);
    }

    float* in = nullptr;
    float* out = nullptr;
    const size_t bytes = matrix.size() * sizeof(float);
    CUDA_CHECK(cudaMalloc(&in, bytes));
    CUDA_CHECK(cudaMalloc(&out, bytes));
    CUDA_CHECK(cudaMemcpy(in, matrix.data(), bytes, cudaMemcpyHostToDevice));

    transpose<<<dim3(tiles_across, tiles_down), dim3(kTile, kTile)>>>(in, out, rows, cols);
    CUDA_CHECK(cudaGetLastError());

    CUDA_CHECK(cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(in));
    CUDA_CHECK(cudaFree(out));

    bool pass = true;
    for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < cols; ++col) {
            pass = pass && result[col * rows + row] == matrix[row * cols + col];
        }
    }
    std::printf("transpose %dx%d: checksum 0x%016llx, %s\n", rows, cols,
                static_cast<unsigned long long>(checksum(result.data(), bytes)), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
