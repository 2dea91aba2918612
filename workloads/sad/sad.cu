// sad: sums of absolute differences for the motion estimation of H.264, all sizes of blocks, full search.
//
// A frame is cut into macroblocks of 16 x 16 pixels. Every part of a macroblock, of the seven shapes from 4 x 4 to
// 16 x 16, is compared with the previous frame at every displacement of a square search window; pixels beyond the edge
// are those at the edge. `blocks_4` computes the sums of the 4 x 4 blocks, one thread block for each. The other shapes
// are sums of these: `blocks_8` makes 8 x 4, 4 x 8 and 8 x 8 of them, `blocks_16` then 16 x 8, 8 x 16 and 16 x 16. Both
// add two sums at a time, which share a word: the largest, 256 * 255, fits into 16 bits.

#include <algorithm>
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

constexpr int kMacroblock = 16;                             // pixels, each way
constexpr int kRange = 5;                                   // the farthest displacement, each way
constexpr int kSearch = 2 * kRange + 1;                     // displacements, each way
constexpr int kPositions = kSearch * kSearch;               // displacements: 121
constexpr int kEach = 2;                                    // displacements of a thread
constexpr int kThreads = (kPositions + kEach - 1) / kEach;  // 61, the last with one displacement only
constexpr int kWords = (kPositions + 1) / 2;                // of the sums of a part; the last half stays zero
constexpr int kLanes = 32;

// Where the parts of a macroblock begin among its 41, by shape (width x height), in rows from the top left.
constexpr int k16x16 = 0, k16x8 = 1, k8x16 = 3, k8x8 = 5, k8x4 = 9, k4x8 = 17, k4x4 = 25, kParts = 41;

// Thread block (x, y) takes the block of 4 x 4 pixels in column x and row y of the frame.
__global__ void __launch_bounds__(kThreads)
blocks_4(const uint8_t* __restrict__ frame, const uint8_t* __restrict__ previous, int width, int height,
         uint16_t* __restrict__ sums) {
    __shared__ int pixels[16];

    const int t = static_cast<int>(threadIdx.x);
    const int left = static_cast<int>(blockIdx.x) * 4;
    const int top = static_cast<int>(blockIdx.y) * 4;
    if (t < 16) {
        pixels[t] = frame[(top + t / 4) * width + left + t % 4];
    }
    __syncthreads();

    const int macroblock = top / kMacroblock * (width / kMacroblock) + left / kMacroblock;
    const int part = k4x4 + top % kMacroblock / 4 * 4 + left % kMacroblock / 4;
    uint16_t* out = sums + (macroblock * kParts + part) * 2 * kWords;
    const int end = min((t + 1) * kEach, kPositions);
    for (int position = t * kEach; position < end; ++position) {
        const int from_x = left + position % kSearch - kRange;
        const int from_y = top + position / kSearch - kRange;
        unsigned sum = 0;
        for (int y = 0; y < 4; ++y) {
            const int row = max(0, min(height - 1, from_y + y)) * width;
            for (int x = 0; x < 4; ++x) {
                const int there = previous[row + max(0, min(width - 1, from_x + x))];
                sum += abs(pixels[4 * y + x] - there);
            }
        }
        out[position] = static_cast<uint16_t>(sum);
    }
}

// Thread block: one macroblock; threadIdx.y: one of its quarters, in rows from the top left.
__global__ void __launch_bounds__(4 * kLanes)
blocks_8(uint32_t* sums) {
    const int quarter = static_cast<int>(threadIdx.y);
    uint32_t* parts = sums + (blockIdx.y * gridDim.x + blockIdx.x) * kParts * kWords;
    const uint32_t* small = parts + (k4x4 + quarter / 2 * 8 + quarter % 2 * 2) * kWords;
    for (int word = static_cast<int>(threadIdx.x); word < kWords; word += kLanes) {
        const uint32_t top_left = small[word], top_right = small[kWords + word];
        const uint32_t bottom_left = small[4 * kWords + word], bottom_right = small[5 * kWords + word];
        const uint32_t top = top_left + top_right, bottom = bottom_left + bottom_right;
        parts[(k8x4 + 2 * quarter) * kWords + word] = top;
        parts[(k8x4 + 2 * quarter + 1) * kWords + word] = bottom;
        parts[(k4x8 + 2 * quarter) * kWords + word] = top_left + bottom_left;
        parts[(k4x8 + 2 * quarter + 1) * kWords + word] = top_right + bottom_right;
        parts[(k8x8 + quarter) * kWords + word] = top + bottom;
    }
}

__global__ void __launch_bounds__(kLanes)
blocks_16(uint32_t* sums) {
    uint32_t* parts = sums + (blockIdx.y * gridDim.x + blockIdx.x) * kParts * kWords;
    const uint32_t* quarters = parts + k8x8 * kWords;
    for (int word = static_cast<int>(threadIdx.x); word < kWords; word += kLanes) {
        const uint32_t top_left = quarters[word], top_right = quarters[kWords + word];
        const uint32_t bottom_left = quarters[2 * kWords + word], bottom_right = quarters[3 * kWords + word];
        const uint32_t top = top_left + top_right, bottom = bottom_left + bottom_right;
        parts[k16x8 * kWords + word] = top;
        parts[(k16x8 + 1) * kWords + word] = bottom;
        parts[k8x16 * kWords + word] = top_left + bottom_left;
        parts[(k8x16 + 1) * kWords + word] = top_right + bottom_right;
        parts[k16x16 * kWords + word] = top + bottom;
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

// What a camera sees at a point: patches of four pixels, each brighter to its lower right.
static int scene(int x, int y) {
    const uint32_t patch = hash32(static_cast<uint32_t>((y >> 2) * 4099 + (x >> 2)));
    return static_cast<int>(patch % 200) + 6 * (x & 3) + 4 * (y & 3);
}

// A picture of the scene from a place, with the noise of the camera.
static std::vector<uint8_t> picture(int width, int height, int from_x, int from_y, uint32_t seed) {
    std::vector<uint8_t> pixels(static_cast<size_t>(width) * height);
    for (int i = 0; i < width * height; ++i) {
        const int noise = static_cast<int>(hash32(hash32(seed) + static_cast<uint32_t>(i)) % 8);
        pixels[i] = static_cast<uint8_t>(scene(i % width + from_x, i / width + from_y) + noise);
    }
    return pixels;
}

// A shape of parts, and the first of them.
struct Shape {
    int first, width, height;
};

static const Shape kShapes[] = {{k16x16, 16, 16}, {k16x8, 16, 8}, {k8x16, 8, 16}, {k8x8, 8, 8},
                                {k8x4, 8, 4},     {k4x8, 4, 8},   {k4x4, 4, 4}};

// All sums straight from the pixels: each difference is added to the seven parts that it belongs to.
static std::vector<uint16_t> reference(const std::vector<uint8_t>& frame, const std::vector<uint8_t>& previous,
                                       int width, int height) {
    const int across = width / kMacroblock, count = across * (height / kMacroblock);
    std::vector<uint16_t> sums(static_cast<size_t>(count) * kParts * 2 * kWords);
    const auto difference = [&](int x, int y, int position) {
        const int from_x = std::clamp(x + position % kSearch - kRange, 0, width - 1);
        const int from_y = std::clamp(y + position / kSearch - kRange, 0, height - 1);
        return std::abs(frame[y * width + x] - previous[from_y * width + from_x]);
    };
    for (int i = 0; i < count * kPositions * kMacroblock * kMacroblock; ++i) {
        const int x = i % kMacroblock, y = i / kMacroblock % kMacroblock;
        const int position = i / (kMacroblock * kMacroblock) % kPositions;
        const int macroblock = i / (kMacroblock * kMacroblock * kPositions);
        const int pixel_x = macroblock % across * kMacroblock + x, pixel_y = macroblock / across * kMacroblock + y;
        const int absolute = difference(pixel_x, pixel_y, position);
        for (const Shape& shape : kShapes) {
            // Parts are numbered in rows of the macroblock, but the halves of a quarter quarter by quarter.
            const bool halves = shape.width + shape.height == 12;
            const int side = halves ? 8 : kMacroblock;
            const int within = y % side / shape.height * (side / shape.width) + x % side / shape.width;
            const int part = shape.first + within + (halves ? 2 * (y / 8 * 2 + x / 8) : 0);
            sums[(static_cast<size_t>(macroblock) * kParts + part) * 2 * kWords + position] += absolute;
        }
    }
    return sums;
}

static uint8_t* to_device(const std::vector<uint8_t>& host) {
    uint8_t* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, host.size()));
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice));
    return device;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int across = argc > 1 ? parse(argv[1], 1, 128) : 3;
    const int down = argc > 2 ? parse(argv[2], 1, 128) : 2;
    if (argc > 3 || across < 0 || down < 0) {
        std::fprintf(stderr, "usage: %s [macroblocks across 1..128] [macroblocks down 1..128]\n", argv[0]);
        return 2;
    }

    // The camera has moved by (3, -2) since the previous frame.
    const int width = across * kMacroblock, height = down * kMacroblock;
    const std::vector<uint8_t> frame = picture(width, height, 3, 998, 1), previous = picture(width, height, 0, 1000, 2);
    std::vector<uint16_t> sums(static_cast<size_t>(across) * down * kParts * 2 * kWords);
    const size_t bytes = sums.size() * sizeof(uint16_t);
    uint8_t* device_frame = to_device(frame);
    uint8_t* device_previous = to_device(previous);
    uint32_t* device_sums = nullptr;
    CUDA_CHECK(cudaMalloc(&device_sums, bytes));
    CUDA_CHECK(cudaMemset(device_sums, 0, bytes));

    const dim3 grid(across, down);
    blocks_4<<<dim3(width / 4, height / 4), kThreads>>>(device_frame, device_previous, width, height,
                                                        reinterpret_cast<uint16_t*>(device_sums));
    blocks_8<<<grid, dim3(kLanes, 4)>>>(device_sums);
    blocks_16<<<grid, kLanes>>>(device_sums);
    CUDA_CHECK(cudaGetLastError());

    CUDA_CHECK(cudaMemcpy(sums.data(), device_sums, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_frame));
    CUDA_CHECK(cudaFree(device_previous));
    CUDA_CHECK(cudaFree(device_sums));

    const bool pass = sums == reference(frame, previous, width, height);
    const auto best = std::min_element(sums.begin(), sums.begin() + kPositions) - sums.begin();
    std::printf("sad %dx%d pixels: first macroblock moved by (%d, %d), checksum 0x%016llx, %s\n", width, height,
                static_cast<int>(best) % kSearch - kRange, static_cast<int>(best) / kSearch - kRange,
                static_cast<unsigned long long>(checksum(sums.data(), bytes)), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
