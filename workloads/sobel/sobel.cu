// sobel: the edges of a grey image, by Sobel's filter.
//
//     gx = | -1 0 1 |     gy = | -1 -2 -1 |      edge = min(sqrt(gx^2 + gy^2), 255), to the nearest whole number
//          | -2 0 2 |          |  0  0  0 |
//          | -1 0 1 |          |  1  2  1 |
//
// Pixels outside are those at the border. A block takes 16 x 16 pixels, a thread one of them; the block loads its
// pixels and those around them into shared memory.

#include <algorithm>
#include <cmath>
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
constexpr int kSpan = kTile + 2;  // with the pixels around

__global__ void __launch_bounds__(kTile* kTile)
edges(const uint8_t* __restrict__ image, uint8_t* __restrict__ edge, int width, int height) {
    __shared__ float tile[kSpan][kSpan + 1];

    const int left = static_cast<int>(blockIdx.x) * kTile - 1;
    const int top = static_cast<int>(blockIdx.y) * kTile - 1;
    const int thread = static_cast<int>(threadIdx.y) * kTile + static_cast<int>(threadIdx.x);
    for (int i = thread; i < kSpan * kSpan; i += kTile * kTile) {
        const int x = min(max(left + i % kSpan, 0), width - 1);
        const int y = min(max(top + i / kSpan, 0), height - 1);
        tile[i / kSpan][i % kSpan] = static_cast<float>(image[y * width + x]);
    }
    __syncthreads();

    const int column = static_cast<int>(threadIdx.x) + 1;
    const int row = static_cast<int>(threadIdx.y) + 1;
    const int x = left + column;
    const int y = top + row;
    if (x >= width || y >= height) {
        return;
    }
    const float* above = tile[row - 1] + column;
    const float* here = tile[row] + column;
    const float* below = tile[row + 1] + column;

    const float gx = (above[1] - above[-1]) + 2.0f * (here[1] - here[-1]) + (below[1] - below[-1]);
    const float gy = (below[-1] - above[-1]) + 2.0f * (below[0] - above[0]) + (below[1] - above[1]);

    const float length = sqrtf(gx * gx + gy * gy);
    edge[y * width + x] = static_cast<uint8_t>(fminf(length, 255.0f) + 0.5f);
}

// A well-mixed 32-bit hash, and the same as a number in [0, 1): the image is a function of seed and place.
static uint32_t hash32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

static double noise(uint32_t x) { return hash32(x) * (1.0 / 4294967296.0); }

// FNV-1a over bytes.
static uint64_t checksum(const void* data, size_t bytes) {
    uint64_t sum = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

// Discs of their own brightness, the later ones in front, on ground that gets brighter to one side; and some noise.
static std::vector<uint8_t> picture(int width, int height, uint32_t key) {
    constexpr int kDiscs = 12;
    double centre_x[kDiscs], centre_y[kDiscs], radius[kDiscs], brightness[kDiscs];
    for (uint32_t disc = 0; disc < kDiscs; ++disc) {
        const uint32_t own = hash32(key ^ (0x40000000u + disc));
        centre_x[disc] = width * noise(own);
        centre_y[disc] = height * noise(own + 1);
        radius[disc] = std::min(width, height) * (0.05 + 0.2 * noise(own + 2));
        brightness[disc] = 30.0 + 190.0 * noise(own + 3);
    }
    std::vector<uint8_t> image(static_cast<size_t>(width) * height);
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            double value = 60.0 + 100.0 * (x + 2.0 * y) / (width + 2.0 * height);
            for (int disc = 0; disc < kDiscs; ++disc) {
                if (std::hypot(x - centre_x[disc], y - centre_y[disc]) < radius[disc]) {
                    value = brightness[disc];
                }
            }
            const size_t at = static_cast<size_t>(y) * width + x;
            image[at] = static_cast<uint8_t>(value + 12.0 * noise(key + static_cast<uint32_t>(at)));
        }
    }
    return image;
}

// The edge at a pixel before it is limited and rounded, in double precision.
static double reference(const std::vector<uint8_t>& image, int width, int height, int x, int y) {
    const auto pixel = [&](int dx, int dy) {
        const int column = std::min(std::max(x + dx, 0), width - 1), row = std::min(std::max(y + dy, 0), height - 1);
        return static_cast<int>(image[static_cast<size_t>(row) * width + column]);
    };
    int gx = 0, gy = 0;
    for (int k = -1; k <= 1; ++k) {
        const int weight = k == 0 ? 2 : 1;
        gx += weight * (pixel(1, k) - pixel(-1, k));
        gy += weight * (pixel(k, 1) - pixel(k, -1));
    }
    return std::sqrt(static_cast<double>(gx * gx + gy * gy));
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int width = argc > 1 ? parse(argv[1], 1, 8192) : 121;
    const int height = argc > 2 ? parse(argv[2], 1, 8192) : 81;
    const int seed = argc > 3 ? parse(argv[3], 0, INT32_MAX) : 1;
    if (argc > 4 || width < 0 || height < 0 || seed < 0) {
        std::fprintf(stderr, "usage: %s [width 1..8192] [height 1..8192] [seed 0..2147483647]\n", argv[0]);
        return 2;
    }

    const std::vector<uint8_t> image = picture(width, height, hash32(static_cast<uint32_t>(seed) + 0x9e3779b9u));
    uint8_t *device_image, *device_edge;
    CUDA_CHECK(cudaMalloc(&device_image, image.size()));
    CUDA_CHECK(cudaMalloc(&device_edge, image.size()));
    CUDA_CHECK(cudaMemcpy(device_image, image.data(), image.size(), cudaMemcpyHostToDevice));

    const dim3 blocks((width + kTile - 1) / kTile, (height + kTile - 1) / kTile);
    edges<<<blocks, dim3(kTile, kTile)>>>(device_image, device_edge, width, height);
    CUDA_CHECK(cudaGetLastError());

    std::vector<uint8_t> edge(image.size());
    CUDA_CHECK(cudaMemcpy(edge.data(), device_edge, edge.size(), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_image));
    CUDA_CHECK(cudaFree(device_edge));

    // Single precision may round a value halfway between two numbers to either side.
    bool pass = true;
    uint64_t total = 0;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const uint8_t value = edge[static_cast<size_t>(y) * width + x];
            const double expected = std::min(reference(image, width, height, x, y), 255.0);
            pass = pass && std::fabs(value - expected) <= 0.50005;
            total += value;
        }
    }
    std::printf("sobel %d x %d pixels, seed %d: average edge %.2f, checksum 0x%016llx, %s\n", width, height, seed,
                static_cast<double>(total) / edge.size(),
                static_cast<unsigned long long>(checksum(edge.data(), edge.size())), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
