// particlefilter: a bright disc followed through noisy frames by particles, each a guess of its place.
//
// In each frame every particle moves at random, and its weight is the likelihood of the pixels around it. The weights are
// made to add up to one, a thread adds them up to a distribution, and every particle is drawn anew: it takes the place of
// the first whose share of the distribution reaches its mark.

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
constexpr int kRadius = 2;               // of the disc, pixels
constexpr int kPixels = 13;              // of the disc
constexpr int kDark = 100, kBright = 228;  // without noise

// The next number of a linear congruential generator, and the same as a float in (0, 1].
__device__ static float draw(uint32_t& state) {
    state = state * 1103515245u + 12345u;
    return static_cast<float>((state >> 8) + 1) * (1.0f / 16777216.0f);
}

__device__ static float normal(uint32_t& state) {
    const float radius = sqrtf(-2.0f * logf(draw(state)));
    return radius * cosf(6.2831853f * draw(state));
}

__global__ void __launch_bounds__(kBlock)
likelihood(float* x, float* y, float* weights, uint32_t* states, const uint8_t* __restrict__ frame, int size, int particles) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= particles) {
        return;
    }
    uint32_t state = states[i];
    const float at_x = x[i] + 2.0f + 2.0f * normal(state), at_y = y[i] + 1.0f + 2.0f * normal(state);
    float sum = 0.0f;
    for (int dy = -kRadius; dy <= kRadius; ++dy) {
        for (int dx = -kRadius; dx <= kRadius; ++dx) {
            if (dx * dx + dy * dy <= kRadius * kRadius) {
                const int column = min(max(static_cast<int>(at_x) + dx, 0), size - 1);
                const int row = min(max(static_cast<int>(at_y) + dy, 0), size - 1);
                const float pixel = static_cast<float>(frame[row * size + column]);
                const float dark = pixel - kDark, bright = pixel - kBright;
                sum += (dark * dark - bright * bright) / 2000.0f;
            }
        }
    }
    x[i] = at_x;
    y[i] = at_y;
    states[i] = state;
    weights[i] = expf(sum / kPixels);
}

__global__ void __launch_bounds__(kBlock) add_up(const float* weights, float* sums, int particles) {
    __shared__ float parts[kBlock];
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    parts[threadIdx.x] = i < particles ? weights[i] : 0.0f;
    __syncthreads();
    for (int half = kBlock / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            parts[threadIdx.x] += parts[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = parts[0];
    }
}

// One thread makes the distribution, in order.
__global__ void distribute(const float* weights, const float* sums, float* distribution, int blocks, int particles) {
    float total = 0.0f;
    for (int block = 0; block < blocks; ++block) {
        total += sums[block];
    }
    float so_far = 0.0f;
    for (int i = 0; i < particles; ++i) {
        so_far += weights[i] / total;
        distribution[i] = so_far;
    }
}

__global__ void __launch_bounds__(kBlock)
find_index(const float* __restrict__ distribution, const float* __restrict__ x, const float* __restrict__ y, float* new_x,
           float* new_y, float first, int particles) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= particles) {
        return;
    }
    const float mark = (static_cast<float>(i) + first) / particles;
    int index = particles - 1;
    for (int j = 0; j < particles; ++j) {
        if (distribution[j] >= mark) {
            index = j;
            break;
        }
    }
    new_x[i] = x[index];
    new_y[i] = y[index];
}

// A well-mixed 32-bit hash, and the same as a float in [0, 1).
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

template <typename T>
static T* to_device(const std::vector<T>& host) {
    T* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static std::vector<T> to_host(const T* device, size_t count) {
    std::vector<T> host(count);
    CUDA_CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

// Whole argument, decimal, within [low, high]; `otherwise` if it is not given. What is no such number ends the program.
static int parse(int argc, char** argv, int at, int low, int high, int otherwise) {
    if (at >= argc) {
        return otherwise;
    }
    char* end = nullptr;
    const long value = std::strtol(argv[at], &end, 10);
    if (end == argv[at] || *end != '\0' || value < low || high < value) {
        std::fprintf(stderr, "%s: argument %d is `%s`: expected a number from %d to %d\n", argv[0], at, argv[at], low, high);
        std::exit(2);
    }
    return static_cast<int>(value);
}

int main(int argc, char** argv) {
    const int particles = parse(argc, argv, 1, 1, 1 << 16, 256);
    const int size = parse(argc, argv, 2, 8, 1024, 64);
    const int frames = parse(argc, argv, 3, 1, 100, 4);
    const uint32_t seed = static_cast<uint32_t>(parse(argc, argv, 4, 0, 1 << 30, 1));
    const int grain = parse(argc, argv, 5, 0, 100, 10);

    const int blocks = (particles + kBlock - 1) / kBlock;
    std::vector<uint32_t> states(particles);
    for (int i = 0; i < particles; ++i) {
        states[i] = hash32(hash32(seed) + static_cast<uint32_t>(i));
    }
    const float start = static_cast<float>(size) / 4.0f;
    float* x = to_device(std::vector<float>(particles, start));
    float* y = to_device(std::vector<float>(particles, start));
    float* new_x = to_device(std::vector<float>(particles));
    float* new_y = to_device(std::vector<float>(particles));
    float* weights = to_device(std::vector<float>(particles));
    float* distribution = to_device(std::vector<float>(particles));
    float* sums = to_device(std::vector<float>(blocks));
    uint32_t* device_states = to_device(states);
    uint8_t* device_frame = to_device(std::vector<uint8_t>(static_cast<size_t>(size) * size));

    float first = 0.0f;
    for (int number = 0; number < frames; ++number) {
        // The disc goes two columns and one row on from frame to frame; every pixel has noise of up to `grain`.
        std::vector<uint8_t> frame(static_cast<size_t>(size) * size);
        const int disc_x = static_cast<int>(start) + 2 * (number + 1), disc_y = static_cast<int>(start) + number + 1;
        for (int row = 0; row < size; ++row) {
            for (int column = 0; column < size; ++column) {
                const int at = row * size + column, dx = column - disc_x, dy = row - disc_y;
                const float level = dx * dx + dy * dy <= kRadius * kRadius ? kBright : kDark;
                const float drawn = noise(hash32(seed + 1 + static_cast<uint32_t>(number)) + static_cast<uint32_t>(at));
                frame[at] = static_cast<uint8_t>(std::fmin(255.0f, std::fmax(0.0f, level + grain * (2.0f * drawn - 1.0f))));
            }
        }
        CUDA_CHECK(cudaMemcpy(device_frame, frame.data(), frame.size(), cudaMemcpyHostToDevice));
        first = noise(hash32(seed + 1000) + static_cast<uint32_t>(number));
        if (number > 0) {
            std::swap(x, new_x);
            std::swap(y, new_y);
        }
        likelihood<<<blocks, kBlock>>>(x, y, weights, device_states, device_frame, size, particles);
        add_up<<<blocks, kBlock>>>(weights, sums, particles);
        distribute<<<1, 1>>>(weights, sums, distribution, blocks, particles);
        find_index<<<blocks, kBlock>>>(distribution, x, y, new_x, new_y, first, particles);
        CUDA_CHECK(cudaGetLastError());
    }
    const std::vector<float> shares = to_host(distribution, particles);
    const std::vector<float> before_x = to_host(x, particles), before_y = to_host(y, particles);
    const std::vector<float> after_x = to_host(new_x, particles), after_y = to_host(new_y, particles);
    for (float* array : {x, y, new_x, new_y, weights, distribution, sums}) {
        CUDA_CHECK(cudaFree(array));
    }
    CUDA_CHECK(cudaFree(device_states));
    CUDA_CHECK(cudaFree(device_frame));

    // The distribution grows to one, and the last draw is repeated to the bit.
    bool pass = std::fabs(shares[particles - 1] - 1.0f) <= 1e-6f * particles + 1e-5f;
    for (int i = 0; i < particles; ++i) {
        const float mark = (static_cast<float>(i) + first) / particles;
        int index = 0;
        while (index < particles - 1 && shares[index] < mark) {
            ++index;
        }
        pass = pass && (i == 0 || shares[i - 1] <= shares[i]) && after_x[i] == before_x[index] && after_y[i] == before_y[index];
    }
    double mean_x = 0.0, mean_y = 0.0;
    for (int i = 0; i < particles; ++i) {
        mean_x += after_x[i] / particles;
        mean_y += after_y[i] / particles;
    }
    std::printf("particlefilter %d: at (%.3f, %.3f), checksum 0x%016llx, %s\n", particles, mean_x, mean_y,
                static_cast<unsigned long long>(checksum(after_x.data(), after_x.size() * sizeof(float))), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
