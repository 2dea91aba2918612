// hotspot: the temperature of a chip over time, an explicit finite-difference stencil on a 2-D grid.
//
// Each cell of the die gains heat from the power it burns, exchanges it with its four neighbours and loses it to the
// heat sink:
//
//     t' = t + gain * (power + (north + south - 2 t) / Ry + (east + west - 2 t) / Rx + (ambient - t) / Rz)
//
// No heat crosses the rim of the die: a neighbour outside it counts as the cell itself. A launch advances two steps: a
// block loads a tile with a halo of two cells, and with each step the cells it can still know shrink by one on every
// side. The coefficients live in constant memory.

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

struct Coefficients {
    float gain;     // kelvin per watt and step: time step over heat capacity of a cell
    float per_rx;   // conductance to east and west, watt per kelvin
    float per_ry;   // conductance to north and south
    float per_rz;   // conductance to the heat sink
    float ambient;  // temperature of the heat sink, degrees Celsius
};

constexpr int kTile = 16;                  // cells a block loads, each way
constexpr int kHalo = 2;                   // steps a launch advances at most
constexpr int kOwned = kTile - 2 * kHalo;  // cells a block writes, each way

__constant__ Coefficients coefficients;

__global__ void __launch_bounds__(kTile* kTile)
advance(const float* __restrict__ power, const float* __restrict__ before, float* __restrict__ after, int rows,
        int cols, int steps) {
    __shared__ float tile[2][kTile][kTile];

    const int x = static_cast<int>(threadIdx.x);
    const int y = static_cast<int>(threadIdx.y);
    const int col = static_cast<int>(blockIdx.x) * kOwned + x - kHalo;
    const int row = static_cast<int>(blockIdx.y) * kOwned + y - kHalo;
    const bool inside = 0 <= row && row < rows && 0 <= col && col < cols;
    const int cell = row * cols + col;

    const float watts = inside ? power[cell] : 0.0f;
    tile[0][y][x] = inside ? before[cell] : 0.0f;
    __syncthreads();

    // Where the neighbours are in the tile; at the rim of the die, the cell itself.
    const int north = row == 0 ? y : y - 1;
    const int south = row == rows - 1 ? y : y + 1;
    const int west = col == 0 ? x : x - 1;
    const int east = col == cols - 1 ? x : x + 1;

    int now = 0;
    for (int step = 1; step <= steps; ++step) {
        const bool known = step <= x && x < kTile - step && step <= y && y < kTile - step;
        if (inside && known) {
            const float t = tile[now][y][x];
            const float vertical = tile[now][north][x] + tile[now][south][x] - 2.0f * t;
            const float horizontal = tile[now][y][east] + tile[now][y][west] - 2.0f * t;
            const float flow = watts + vertical * coefficients.per_ry + horizontal * coefficients.per_rx +
                               (coefficients.ambient - t) * coefficients.per_rz;
            tile[1 - now][y][x] = t + coefficients.gain * flow;
        }
        __syncthreads();
        now = 1 - now;
    }

    const bool owned = kHalo <= x && x < kTile - kHalo && kHalo <= y && y < kTile - kHalo;
    if (inside && owned) {
        after[cell] = tile[now][y][x];
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

static float noise(uint32_t x) { return static_cast<float>(hash32(x) >> 8) * (1.0f / 16777216.0f); }

// FNV-1a over bytes.
static uint64_t checksum(const void* data, size_t bytes) {
    uint64_t sum = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

// A silicon die of 16 mm x 16 mm x 0.5 mm; the time step is half of the longest stable one.
static Coefficients coefficients_of(int rows, int cols) {
    const double side = 0.016, thickness = 0.0005, conductivity = 100.0, heat_capacity = 1.75e6;
    const double width = side / cols, height = side / rows;
    const double per_rx = conductivity * thickness * height / width;
    const double per_ry = conductivity * thickness * width / height;
    const double per_rz = conductivity * width * height / thickness;
    const double capacity = heat_capacity * thickness * width * height;
    const double step = 0.5 * capacity / (2.0 * per_rx + 2.0 * per_ry + per_rz);
    return {static_cast<float>(step / capacity), static_cast<float>(per_rx), static_cast<float>(per_ry),
            static_cast<float>(per_rz), 45.0f};
}

static std::vector<double> reference(const Coefficients& k, const std::vector<float>& power,
                                     const std::vector<float>& start, int rows, int cols, int steps) {
    std::vector<double> now(start.begin(), start.end()), next(start.size());
    for (int step = 0; step < steps; ++step) {
        for (int r = 0; r < rows; ++r) {
            for (int c = 0; c < cols; ++c) {
                const auto at = [&](int y, int x) {
                    return now[std::clamp(y, 0, rows - 1) * cols + std::clamp(x, 0, cols - 1)];
                };
                const double t = at(r, c);
                const double flow = power[r * cols + c] + (at(r - 1, c) + at(r + 1, c) - 2.0 * t) * k.per_ry +
                                    (at(r, c + 1) + at(r, c - 1) - 2.0 * t) * k.per_rx + (k.ambient - t) * k.per_rz;
                next[r * cols + c] = t + k.gain * flow;
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
    const int rows = argc > 1 ? parse(argv[1], 1, 4096) : 100;
    const int cols = argc > 2 ? parse(argv[2], 1, 4096) : 90;
    const int steps = argc > 3 ? parse(argv[3], 1, 10000) : 7;
    if (argc > 4 || rows < 0 || cols < 0 || steps < 0) {
        std::fprintf(stderr, "usage: %s [rows 1..4096] [cols 1..4096] [steps 1..10000]\n", argv[0]);
        return 2;
    }

    // A warm die with noise; functional units of a third of each side burn power unevenly.
    const size_t cells = static_cast<size_t>(rows) * cols;
    std::vector<float> temperature(cells), power(cells);
    for (size_t i = 0; i < cells; ++i) {
        const uint32_t index = static_cast<uint32_t>(i);
        const uint32_t unit = static_cast<uint32_t>(3 * (i / cols) / rows * 3 + 3 * (i % cols) / cols);
        temperature[i] = 55.0f + 10.0f * noise(2 * index);
        power[i] = 0.08f * noise(~unit) * (0.75f + 0.5f * noise(2 * index + 1));
    }
    const Coefficients host_coefficients = coefficients_of(rows, cols);

    float* device_power = nullptr;
    float* before = nullptr;
    float* after = nullptr;
    const size_t bytes = cells * sizeof(float);
    CUDA_CHECK(cudaMalloc(&device_power, bytes));
    CUDA_CHECK(cudaMalloc(&before, bytes));
    CUDA_CHECK(cudaMalloc(&after, bytes));
    CUDA_CHECK(cudaMemcpyToSymbol(coefficients, &host_coefficients, sizeof host_coefficients));
    CUDA_CHECK(cudaMemcpy(device_power, power.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(before, temperature.data(), bytes, cudaMemcpyHostToDevice));

    const dim3 block(kTile, kTile);
    const dim3 grid((cols + kOwned - 1) / kOwned, (rows + kOwned - 1) / kOwned);
    for (int done = 0; done < steps; done += kHalo) {
        advance<<<grid, block>>>(device_power, before, after, rows, cols, std::min(kHalo, steps - done));
        CUDA_CHECK(cudaGetLastError());
        std::swap(before, after);
    }

    std::vector<float> result(cells);
    CUDA_CHECK(cudaMemcpy(result.data(), before, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_power));
    CUDA_CHECK(cudaFree(before));
    CUDA_CHECK(cudaFree(after));

    const std::vector<double> expected = reference(host_coefficients, power, temperature, rows, cols, steps);
    bool pass = true;
    for (size_t i = 0; i < cells; ++i) {
        pass = pass && std::fabs(result[i] - expected[i]) <= 1e-5 * std::fabs(expected[i]);  // a NaN does not pass
    }
    std::printf("hotspot %dx%d, %d steps: hottest %.3f C, checksum 0x%016llx, %s\n", rows, cols, steps,
                *std::max_element(result.begin(), result.end()),
                static_cast<unsigned long long>(checksum(result.data(), bytes)), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
