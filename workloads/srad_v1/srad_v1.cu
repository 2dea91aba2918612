// srad_v1: speckle-reducing anisotropic diffusion of an ultrasound image, one thread per pixel of a flat array.
//
// Diffusion that stops at edges: J is the image, dJ the differences to its four neighbours, and the coefficient c falls
// from 1, where an image varies as speckle does, to 0, where it varies more (Yu and Acton, 2002):
//
//     G = sum(dJ^2) / J^2,   L = sum(dJ) / J,   q = (G / 2 - L^2 / 16) / (1 + L / 4)^2,   q0 = variance(J) / mean(J)^2
//     c = 1 / (1 + (q - q0) / (q0 (1 + q0))), at least 0, at most 1
//     J' = J + rate / 4 (c (north + west) + c_south south + c_east east)
//
// Grey levels go through an exponential first (`extract`) and back through a logarithm last (`compress`). In between,
// every iteration sums up the whole image and its squares (`prepare`, then `reduce` until one block is enough), makes
// differences and coefficients (`srad`) and updates (`srad2`). Rows and columns of the neighbours come from index
// arrays, in which the rim of the image is its own neighbour.

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

constexpr int kBlock = 128;
constexpr float kWhite = 255.0f;  // the brightest grey level
constexpr float kRate = 0.5f;

// For every row the one above and below, for every column the one to the left and right.
struct Neighbours {
    const int *above, *below, *left, *right;
};

struct Differences {
    float *north, *south, *west, *east;
};

__global__ void extract(float* image, int pixels) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < pixels) {
        image[i] = expf(image[i] / kWhite);
    }
}

__global__ void prepare(const float* __restrict__ image, float* sums, float* squares, int pixels) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < pixels) {
        const float value = image[i];
        sums[i] = value;
        squares[i] = value * value;
    }
}

// Adds up `kBlock` elements of both arrays in every block.
__global__ void __launch_bounds__(kBlock)
reduce(const float* __restrict__ sums, const float* __restrict__ squares, float* of_sums, float* of_squares,
       int count) {
    __shared__ float sum[kBlock];
    __shared__ float square[kBlock];

    const int thread = static_cast<int>(threadIdx.x);
    const int i = static_cast<int>(blockIdx.x) * kBlock + thread;
    sum[thread] = i < count ? sums[i] : 0.0f;
    square[thread] = i < count ? squares[i] : 0.0f;
    for (int half = kBlock / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) {
            sum[thread] += sum[thread + half];
            square[thread] += square[thread + half];
        }
    }

    if (thread == 0) {
        of_sums[blockIdx.x] = sum[0];
        of_squares[blockIdx.x] = square[0];
    }
}

__global__ void srad(const float* __restrict__ image, Neighbours neighbours, const float* __restrict__ sum,
                     const float* __restrict__ square, Differences differences, float* coefficients, int rows,
                     int cols) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= rows * cols) {
        return;
    }
    const int row = i / cols;
    const int col = i % cols;

    const float here = image[i];
    const float north = image[neighbours.above[row] * cols + col] - here;
    const float south = image[neighbours.below[row] * cols + col] - here;
    const float west = image[row * cols + neighbours.left[col]] - here;
    const float east = image[row * cols + neighbours.right[col]] - here;
    differences.north[i] = north;
    differences.south[i] = south;
    differences.west[i] = west;
    differences.east[i] = east;

    const float mean = *sum / (rows * cols);
    const float variance = *square / (rows * cols) - mean * mean;
    const float speckle = variance / (mean * mean);

    const float gradient = (north * north + south * south + west * west + east * east) / (here * here);
    const float laplacian = (north + south + west + east) / here;
    const float dividend = 0.5f * gradient - 0.0625f * laplacian * laplacian;
    const float divisor = 1.0f + 0.25f * laplacian;
    const float variation = dividend / (divisor * divisor);
    const float excess = (variation - speckle) / (speckle * (1.0f + speckle));
    coefficients[i] = fminf(fmaxf(1.0f / (1.0f + excess), 0.0f), 1.0f);
}

__global__ void srad2(float* image, Neighbours neighbours, Differences differences,
                      const float* __restrict__ coefficients, int rows, int cols) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= rows * cols) {
        return;
    }
    const int row = i / cols;
    const int col = i % cols;

    const float here = coefficients[i];
    const float south = coefficients[neighbours.below[row] * cols + col];
    const float east = coefficients[row * cols + neighbours.right[col]];
    const float divergence = here * (differences.north[i] + differences.west[i]) + south * differences.south[i] +
                             east * differences.east[i];
    image[i] += 0.25f * kRate * divergence;
}

__global__ void compress(float* image, int pixels) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < pixels) {
        image[i] = logf(image[i]) * kWhite;
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

// Tissue with a dark cyst and a bright layer below it, under speckle: whole grey levels.
static std::vector<float> ultrasound(int rows, int cols) {
    std::vector<float> image(static_cast<size_t>(rows) * cols);
    for (size_t i = 0; i < image.size(); ++i) {
        const float y = (i / cols + 0.5f) / rows, x = (i % cols + 0.5f) / cols;
        const bool cyst = (x - 0.55f) * (x - 0.55f) + (y - 0.4f) * (y - 0.4f) < 0.05f;
        const bool layer = std::fabs(y - 0.8f + 0.1f * x) < 0.06f;
        const float tissue = cyst ? 35.0f : layer ? 190.0f : 110.0f;
        const uint32_t index = static_cast<uint32_t>(2 * i);
        const float speckle = 0.6f + 0.4f * (noise(index) + noise(index + 1));
        image[i] = std::floor(std::min(tissue * speckle, kWhite));
    }
    return image;
}

static std::vector<double> reference(const std::vector<float>& start, int rows, int cols, int iterations) {
    const int pixels = rows * cols;
    std::vector<double> image(pixels), c(pixels), next(pixels);
    std::transform(start.begin(), start.end(), image.begin(), [](float grey) { return std::exp(grey / kWhite); });
    const auto at = [&](const std::vector<double>& of, int row, int col) {
        return of[std::clamp(row, 0, rows - 1) * cols + std::clamp(col, 0, cols - 1)];
    };
    for (int done = 0; done < iterations; ++done) {
        double mean = 0.0, variance = 0.0;
        for (double value : image) {
            mean += value / pixels;
        }
        for (double value : image) {
            variance += (value - mean) * (value - mean) / pixels;
        }
        const double q0 = variance / (mean * mean);
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
    std::transform(image.begin(), image.end(), image.begin(), [](double value) { return std::log(value) * kWhite; });
    return image;
}

// Copied to the device: for every place along a side the one before (step -1) or after (step 1).
static int* neighbours_along(int length, int step) {
    std::vector<int> places(length);
    for (int i = 0; i < length; ++i) {
        places[i] = std::clamp(i + step, 0, length - 1);
    }
    int* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, length * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(device, places.data(), length * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int rows = argc > 1 ? parse(argv[1], 2, 2048) : 72;
    const int cols = argc > 2 ? parse(argv[2], 2, 2048) : 60;
    const int iterations = argc > 3 ? parse(argv[3], 0, 100) : 5;
    if (argc > 4 || rows < 0 || cols < 0 || iterations < 0) {
        std::fprintf(stderr, "usage: %s [rows 2..2048] [cols 2..2048] [iterations 0..100]\n", argv[0]);
        return 2;
    }

    const int pixels = rows * cols;
    const int blocks = (pixels + kBlock - 1) / kBlock;
    const std::vector<float> input = ultrasound(rows, cols);
    const size_t bytes = pixels * sizeof(float);

    // Image, four differences, coefficients, and two pairs of arrays between which the sums go to and fro.
    float* arrays[10];
    for (float*& array : arrays) {
        CUDA_CHECK(cudaMalloc(&array, bytes));
    }
    float* image = arrays[0];
    float* coefficients = arrays[1];
    const Differences differences = {arrays[2], arrays[3], arrays[4], arrays[5]};
    float *sums = arrays[6], *squares = arrays[7], *of_sums = arrays[8], *of_squares = arrays[9];
    const Neighbours neighbours = {neighbours_along(rows, -1), neighbours_along(rows, 1), neighbours_along(cols, -1),
                                   neighbours_along(cols, 1)};
    CUDA_CHECK(cudaMemcpy(image, input.data(), bytes, cudaMemcpyHostToDevice));

    extract<<<blocks, kBlock>>>(image, pixels);
    for (int done = 0; done < iterations; ++done) {
        prepare<<<blocks, kBlock>>>(image, sums, squares, pixels);
        for (int count = pixels; count > 1;) {
            const int groups = (count + kBlock - 1) / kBlock;
            reduce<<<groups, kBlock>>>(sums, squares, of_sums, of_squares, count);
            std::swap(sums, of_sums);
            std::swap(squares, of_squares);
            count = groups;
        }
        srad<<<blocks, kBlock>>>(image, neighbours, sums, squares, differences, coefficients, rows, cols);
        srad2<<<blocks, kBlock>>>(image, neighbours, differences, coefficients, rows, cols);
    }
    compress<<<blocks, kBlock>>>(image, pixels);
    CUDA_CHECK(cudaGetLastError());

    std::vector<float> result(pixels);
    CUDA_CHECK(cudaMemcpy(result.data(), image, bytes, cudaMemcpyDeviceToHost));
    for (float* array : arrays) {
        CUDA_CHECK(cudaFree(array));
    }
    for (const int* array : {neighbours.above, neighbours.below, neighbours.left, neighbours.right}) {
        CUDA_CHECK(cudaFree(const_cast<int*>(array)));
    }

    const std::vector<double> expected = reference(input, rows, cols, iterations);
    bool pass = true;
    double mean = 0.0, square = 0.0;
    for (int i = 0; i < pixels; ++i) {
        pass = pass && std::fabs(result[i] - expected[i]) <= 0.01;  // grey levels; a NaN does not pass
        mean += result[i] / pixels;
        square += static_cast<double>(result[i]) * result[i] / pixels;
    }
    std::printf("srad_v1 %dx%d, %d iterations: mean %.3f, deviation %.3f, checksum 0x%016llx, %s\n", rows, cols,
                iterations, mean, std::sqrt(std::max(square - mean * mean, 0.0)),
                static_cast<unsigned long long>(checksum(result.data(), bytes)), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
