// stencil: Jacobi steps of a seven-point stencil on a three-dimensional grid.
//
//     next = (west + east + north + south + below + above) / 36 - here / 6
//
// Cells on the rim of the grid keep their values. A block owns a rectangle of columns, a thread two columns half a
// tile apart, and goes through the planes from below: the plane in work lies in shared memory, what is below and above
// a thread's own cells in its registers. Neighbours outside the rectangle are read from global memory.

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

constexpr int kWide = 32, kHigh = 4;  // threads of a block
constexpr int kTile = 2 * kWide;      // columns of a block in x
constexpr float kOfHere = 1.0f / 6.0f, kOfNeighbours = 1.0f / 36.0f;

struct Size {
    int x, y, z;
};

// A column of cells that a thread carries upwards.
struct Column {
    int x, y;
    bool exists, changes;  // whether it is in the grid, and whether it is off the rim
    float below, here, above;
};

__device__ Column start(const float* cells, Size size, int x, int y) {
    Column column = {x, y, x < size.x && y < size.y, false, 0.0f, 0.0f, 0.0f};
    column.changes = 0 < x && x < size.x - 1 && 0 < y && y < size.y - 1;
    if (column.exists) {
        const int cell = y * size.x + x;
        column.below = cells[cell];
        column.here = cells[cell + size.y * size.x];
    }
    return column;
}

__device__ float step(const Column& column, const float (&tile)[kHigh][kTile], const float* cells, int cell,
                      int row_length) {
    const int x = column.x % kTile, y = column.y % kHigh;
    const float west = x > 0 ? tile[y][x - 1] : cells[cell - 1];
    const float east = x < kTile - 1 ? tile[y][x + 1] : cells[cell + 1];
    const float north = y > 0 ? tile[y - 1][x] : cells[cell - row_length];
    const float south = y < kHigh - 1 ? tile[y + 1][x] : cells[cell + row_length];
    const float neighbours = west + east + north + south + column.below + column.above;
    return neighbours * kOfNeighbours - column.here * kOfHere;
}

__global__ void __launch_bounds__(kWide* kHigh)
sweep(const float* __restrict__ before, float* __restrict__ after, Size size) {
    __shared__ float tile[kHigh][kTile];

    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    const int column_x = static_cast<int>(blockIdx.x) * kTile + x;
    const int column_y = static_cast<int>(blockIdx.y) * kHigh + y;
    Column columns[2] = {start(before, size, column_x, column_y), start(before, size, column_x + kWide, column_y)};

    const int plane = size.y * size.x;
    for (int z = 1; z < size.z - 1; ++z) {
        tile[y][x] = columns[0].here;
        tile[y][x + kWide] = columns[1].here;
        __syncthreads();
#pragma unroll
        for (Column& column : columns) {
            if (column.exists) {
                const int cell = z * plane + column.y * size.x + column.x;
                column.above = before[cell + plane];
                if (column.changes) {
                    after[cell] = step(column, tile, before, cell, size.x);
                }
            }
            column.below = column.here;
            column.here = column.above;
        }
        __syncthreads();
    }
}

// A well-mixed 32-bit hash, and the same as a float in [0, 1): the input is a function of the index alone.
static uint32_t hash32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

static float noise(uint32_t x) { return static_cast<float>(hash32(x) >> 20) * (1.0f / 4096.0f); }

// FNV-1a over bytes.
static uint64_t checksum(const void* data, size_t bytes) {
    uint64_t sum = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

static std::vector<double> reference(const std::vector<float>& start, Size size, int steps) {
    std::vector<double> now(start.begin(), start.end()), next(now);
    const int row = size.x, plane = size.x * size.y;
    for (int done = 0; done < steps; ++done) {
        for (int z = 1; z < size.z - 1; ++z) {
            for (int y = 1; y < size.y - 1; ++y) {
                for (int x = 1; x < size.x - 1; ++x) {
                    const int cell = z * plane + y * row + x;
                    next[cell] = (now[cell - 1] + now[cell + 1] + now[cell - row] + now[cell + row] +
                                  now[cell - plane] + now[cell + plane]) / 36.0 - now[cell] / 6.0;
                }
            }
        }
        std::swap(now, next);
    }
    return now;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    Size size = {60, 18, 9};
    size.x = argc > 1 ? parse(argv[1], 3, 512) : size.x;
    size.y = argc > 2 ? parse(argv[2], 3, 512) : size.y;
    size.z = argc > 3 ? parse(argv[3], 3, 512) : size.z;
    const int steps = argc > 4 ? parse(argv[4], 1, 10000) : 4;
    if (argc > 5 || size.x < 0 || size.y < 0 || size.z < 0 || steps < 0) {
        std::fprintf(stderr, "usage: %s [x 3..512] [y 3..512] [z 3..512] [steps 1..10000]\n", argv[0]);
        return 2;
    }

    // No value is above one half: a tolerance of 0.001 and one of 0.2 % of the value allow at most 0.001.
    const size_t cells = static_cast<size_t>(size.x) * size.y * size.z;
    std::vector<float> input(cells), result(cells);
    for (size_t i = 0; i < cells; ++i) {
        input[i] = 0.5f * noise(static_cast<uint32_t>(i));
    }

    float* before = nullptr;
    float* after = nullptr;
    const size_t bytes = cells * sizeof(float);
    CUDA_CHECK(cudaMalloc(&before, bytes));
    CUDA_CHECK(cudaMalloc(&after, bytes));
    CUDA_CHECK(cudaMemcpy(before, input.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(after, before, bytes, cudaMemcpyDeviceToDevice));

    const dim3 block(kWide, kHigh);
    const dim3 grid((size.x + kTile - 1) / kTile, (size.y + kHigh - 1) / kHigh);
    for (int done = 0; done < steps; ++done) {
        sweep<<<grid, block>>>(before, after, size);
        CUDA_CHECK(cudaGetLastError());
        std::swap(before, after);
    }

    CUDA_CHECK(cudaMemcpy(result.data(), before, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(before));
    CUDA_CHECK(cudaFree(after));

    const std::vector<double> expected = reference(input, size, steps);
    bool pass = true;
    for (size_t i = 0; i < cells; ++i) {
        pass = pass && std::fabs(result[i] - expected[i]) <= 1e-6;  // a NaN does not pass
    }
    std::printf("stencil %dx%dx%d, %d steps: centre %.6f, checksum 0x%016llx, %s\n", size.x, size.y, size.z, steps,
                result[(size.z / 2 * size.y + size.y / 2) * static_cast<size_t>(size.x) + size.x / 2],
                static_cast<unsigned long long>(checksum(result.data(), bytes)), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
