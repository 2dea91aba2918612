// srad_v2: speckle-reducing anisotropic diffusion of an ultrasound image, on two-dimensional tiles in shared memory.
//
// Diffusion that stops at edges: J is the image, dJ the differences to its four neighbours, and the coefficient c falls
// from 1, where an image varies as speckle does, to 0, where it varies more (Yu and Acton, 2002):
//
//     G = sum(dJ^2) / J^2,   L = sum(dJ) / J,   q = (G / 2 - L^2 / 16) / (1 + L / 4)^2,   q0 = variance / mean^2
//     c = 1 / (1 + (q - q0) / (q0 (1 + q0))), at least 0, at most 1
//     J' = J + rate / 4 (c (north + west) + c_south south + c_east east)
//
// Mean and variance are those of a region that holds nothing but speckle: the host takes them from the image, which it
// reads back after every iteration. An iteration is two kernels with a block for every tile: `diffuse` loads the image
// with a rim of one pixel around the tile and makes differences and coefficients, `update` loads the coefficients with
// a rim below and to the right and changes the image. Beyond the edge of the image its outermost pixels are repeated.

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

constexpr int kTile = 16;  // pixels of a block, each way
constexpr float kRate = 0.5f;

// `differences` has the four directions one after the other: north, south, west, east.
__global__ void __launch_bounds__(kTile* kTile)
diffuse(const float* __restrict__ image, float* differences, float* coefficients, int rows, int cols, float speckle) {
    __shared__ float tile[kTile + 2][kTile + 2];

    const int x = static_cast<int>(threadIdx.x) + 1;
    const int y = static_cast<int>(threadIdx.y) + 1;
    const int col = static_cast<int>(blockIdx.x) * kTile + x - 1;
    const int row = static_cast<int>(blockIdx.y) * kTile + y - 1;
    const int near_col = min(col, cols - 1);
    const int near_row = min(row, rows - 1);

    tile[y][x] = image[near_row * cols + near_col];
    if (y == 1) {
        tile[0][x] = image[max(row - 1, 0) * cols + near_col];
    }
    if (y == kTile) {
        tile[kTile + 1][x] = image[min(row + 1, rows - 1) * cols + near_col];
    }
    if (x == 1) {
        tile[y][0] = image[near_row * cols + max(col - 1, 0)];
    }
    if (x == kTile) {
        tile[y][kTile + 1] = image[near_row * cols + min(col + 1, cols - 1)];
    }
    __syncthreads();

    const float here = tile[y][x];
    const float north = tile[y - 1][x] - here;
    const float south = tile[y + 1][x] - here;
    const float west = tile[y][x - 1] - here;
    const float east = tile[y][x + 1] - here;

    const float gradient = (north * north + south * south + west * west + east * east) / (here * here);
    const float laplacian = (north + south + west + east) / here;
    const float divisor = 1.0f + 0.25f * laplacian;
    const float variation = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (divisor * divisor);
    const float excess = (variation - speckle) / (speckle * (1.0f + speckle));
    const float coefficient = fminf(fmaxf(1.0f / (1.0f + excess), 0.0f), 1.0f);

    if (row < rows && col < cols) {
        const int pixels = rows * cols;
        const int pixel = row * cols + col;
        coefficients[pixel] = coefficient;
        differences[pixel] = north;
        differences[pixels + pixel] = south;
        differences[2 * pixels + pixel] = west;
        differences[3 * pixels + pixel] = east;
    }
}

__global__ void __launch_bounds__(kTile* kTile)
update(float* image, const float* __restrict__ differences, const float* __restrict__ coefficients, int rows,
       int cols) {
    __shared__ float tile[kTile + 1][kTile + 1];

    const int x = static_cast<int>(threadIdx.x);
    const int y = static_cast<int>(threadIdx.y);
    const int col = static_cast<int>(blockIdx.x) * kTile + x;
    const int row = static_cast<int>(blockIdx.y) * kTile + y;
    const int near_col = min(col, cols - 1);
    const int near_row = min(row, rows - 1);

    tile[y][x] = coefficients[near_row * cols + near_col];
    if (y == kTile - 1) {
        tile[kTile][x] = coefficients[min(row + 1, rows - 1) * cols + near_col];
    }
    if (x == kTile - 1) {
        tile[y][kTile] = coefficients[near_row * cols + min(col + 1, cols - 1)];
    }
    __syncthreads();

    if (row < rows && col < cols) {
        const int pixels = rows * cols;
        const int pixel = row * cols + col;
        const float divergence = tile[y][x] * (differences[pixel] + differences[2 * pixels + pixel]) +
                                 tile[y + 1][x] * differences[pixels + pixel] +
                                 tile[y][x + 1] * differences[3 * pixels + pixel];
        image[pixel] += 0.25f * kRate * divergence;
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

// Even tissue to the left, a vessel across the right half, under speckle: the exponential of levels within 0..1.
static std::vector<float> ultrasound(int rows, int cols) {
    std::vector<float> image(static_cast<size_t>(rows) * cols);
    for (size_t i = 0; i < image.size(); ++i) {
        const float y = (i / cols + 0.5f) / rows, x = (i % cols + 0.5f) / cols;
        const float across = std::fabs(y - 0.9f + 0.6f * x);
        const bool wall = x > 0.4f && 0.1f < across && across < 0.16f;
        const bool blood = x > 0.4f && across <= 0.1f;
        const float tissue = wall ? 0.8f : blood ? 0.1f : 0.4f;
        image[i] = std::exp(tissue * (0.75f + 0.5f * noise(static_cast<uint32_t>(i))));
    }
    return image;
}

// The square of variation over mean in the region of even tissue: the upper left of the image.
template <typename T>
static double speckle_of(const std::vector<T>& image, int rows, int cols) {
    const int high = (rows + 1) / 2, wide = (cols + 2) / 3;
    double sum = 0.0, squares = 0.0;
    for (int row = 0; row < high; ++row) {
        for (int col = 0; col < wide; ++col) {
            const double value = image[row * cols + col];
            sum += value;
            squares += value * value;
        }
    }
    const double mean = sum / (high * wide);
    return (squares / (high * wide) - mean * mean) / (mean * mean);
}

static std::vector<double> reference(const std::vector<float>& start, int rows, int cols, int iterations) {
    const int pixels = rows * cols;
    std::vector<double> image(start.begin(), start.end()), c(pixels), next(pixels);
    const auto at = [&](const std::vector<double>& of, int row, int col) {
        return of[std::clamp(row, 0, rows - 1) * cols + std::clamp(col, 0, cols - 1)];
    };
    for (int done = 0; done < iterations; ++done) {
        const double q0 = speckle_of(image, rows, cols);
        for (int i = 0; i < pixels; ++i) {
            const int y = i / cols, x = i % cols;
            double g = 0.0, l = 0.0;
            for (const auto [down, along] : {std::pair(-1, 0), {1, 0}, {0, -1}, {0, 1}}) {
                const double relative = at(image, y + down, x + along) / image[i] - 1.0;
                g += relative * relative;
                l += relative;
            }
            const double q = (g / 2.0 - l * l / 16.0) / ((1.0 + l / 4.0) * (1.0 + l / 4.0));
            c[i] = std::clamp(1.0 / (1.0 + (q - q0) / (q0 * (1.0 + q0))), 0.0, 1.0);
        }
        for (int i = 0; i < pixels; ++i) {
            const int y = i / cols, x = i % cols;
            const double flow = c[i] * (at(image, y - 1, x) + at(image, y, x - 1) - 2.0 * image[i]) +
                                at(c, y + 1, x) * (at(image, y + 1, x) - image[i]) +
                                at(c, y, x + 1) * (at(image, y, x + 1) - image[i]);
            next[i] = image[i] + kRate / 4.0 * flow;
        }
        std::swap(image, next);
    }
    return image;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int rows = argc > 1 ? parse(argv[1], 4, 2048) : 64;
    const int cols = argc > 2 ? parse(argv[2], 4, 2048) : 80;
    const int iterations = argc > 3 ? parse(argv[3], 1, 100) : 4;
    if (argc > 4 || rows < 0 || cols < 0 || iterations < 0) {
        std::fprintf(stderr, "usage: %s [rows 4..2048] [cols 4..2048] [iterations 1..100]\n", argv[0]);
        return 2;
    }

    const std::vector<float> input = ultrasound(rows, cols);
    const size_t bytes = input.size() * sizeof(float);
    float* image = nullptr;
    float* differences = nullptr;
    float* coefficients = nullptr;
    CUDA_CHECK(cudaMalloc(&image, bytes));
    CUDA_CHECK(cudaMalloc(&differences, 4 * bytes));
    CUDA_CHECK(cudaMalloc(&coefficients, bytes));
    CUDA_CHECK(cudaMemcpy(image, input.data(), bytes, cudaMemcpyHostToDevice));

    const dim3 block(kTile, kTile);
    const dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
    std::vector<float> result = input;
    for (int done = 0; done < iterations; ++done) {
        const float speckle = static_cast<float>(speckle_of(result, rows, cols));
        diffuse<<<grid, block>>>(image, differences, coefficients, rows, cols, speckle);
        update<<<grid, block>>>(image, differences, coefficients, rows, cols);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(result.data(), image, bytes, cudaMemcpyDeviceToHost));
    }
    CUDA_CHECK(cudaFree(image));
    CUDA_CHECK(cudaFree(differences));
    CUDA_CHECK(cudaFree(coefficients));

    const std::vector<double> expected = reference(input, rows, cols, iterations);
    bool pass = true;
    for (size_t i = 0; i < result.size(); ++i) {
        pass = pass && std::fabs(result[i] - expected[i]) <= 1e-5 * std::fabs(expected[i]);  // a NaN does not pass
    }
    std::printf("srad_v2 %dx%d, %d iterations: speckle %.5f -> %.5f, checksum 0x%016llx, %s\n", rows, cols, iterations,
                speckle_of(input, rows, cols), speckle_of(result, rows, cols),
                static_cast<unsigned long long>(checksum(result.data(), bytes)), pass ? "PASS" : "FAIL");
    return 0;  // the text says how it ended: a wrong result is a silent corruption, as where nobody checks
}
