// kmeans: points in groups around k centres (Lloyd's algorithm).
//
// A point belongs to the centre that is nearest to it, a centre lies in the middle of its points, and rounds of the two
// steps approach groups for which both hold. The first k points are the first centres. A kernel transposes the points
// once, so that threads beside each other read beside each other. Every round `assign` finds the nearest centre for
// each point, a thread a point, with the centres in constant memory, and counts the points that change their centre.
// Then `move_centres` adds up the points of each centre, a block a centre: a thread takes every 128th point, and a tree
// in shared memory joins the sums of the threads, always in the same order. The device copies the moved centres to
// constant memory. The number of rounds is fixed, and nothing comes back to the host before the last one is over.

#include <algorithm>
#include <cfloat>
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

constexpr int kBlock = 128;
constexpr int kFeatures = 8;  // of a point
constexpr int kMaxCentres = 16;

__constant__ float centres[kMaxCentres * kFeatures];

// From point after point to feature after feature.
__global__ void __launch_bounds__(kBlock)
transpose(const float* __restrict__ points, float* __restrict__ features, int count) {
    const int point = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (point < count) {
        for (int f = 0; f < kFeatures; ++f) {
            features[f * count + point] = points[point * kFeatures + f];
        }
    }
}

__global__ void __launch_bounds__(kBlock)
assign(const float* __restrict__ features, int* __restrict__ membership, int* __restrict__ changed, int count, int k) {
    const int point = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (point >= count) {
        return;
    }
    int nearest = 0;
    float least = FLT_MAX;
    for (int centre = 0; centre < k; ++centre) {
        float square = 0.0f;
        for (int f = 0; f < kFeatures; ++f) {
            const float away = features[f * count + point] - centres[centre * kFeatures + f];
            square += away * away;
        }
        if (square < least) {
            least = square;
            nearest = centre;
        }
    }
    if (membership[point] != nearest) {
        membership[point] = nearest;
        atomicAdd(changed, 1);
    }
}

// The middle of each group; an empty one keeps its centre.
__global__ void __launch_bounds__(kBlock)
move_centres(const float* __restrict__ features, const int* __restrict__ membership, float* __restrict__ middles,
             int count) {
    __shared__ float sums[kFeatures][kBlock];
    __shared__ int sizes[kBlock];

    const int here = static_cast<int>(threadIdx.x);
    const int centre = static_cast<int>(blockIdx.x);
    float sum[kFeatures] = {};
    int size = 0;
    for (int point = here; point < count; point += kBlock) {
        if (membership[point] == centre) {
            for (int f = 0; f < kFeatures; ++f) {
                sum[f] += features[f * count + point];
            }
            ++size;
        }
    }
    for (int f = 0; f < kFeatures; ++f) {
        sums[f][here] = sum[f];
    }
    sizes[here] = size;
    __syncthreads();

    for (int half = kBlock / 2; half > 0; half /= 2) {
        if (here < half) {
            for (int f = 0; f < kFeatures; ++f) {
                sums[f][here] += sums[f][here + half];
            }
            sizes[here] += sizes[here + half];
        }
        __syncthreads();
    }

    if (here < kFeatures && sizes[0] > 0) {
        middles[centre * kFeatures + here] = sums[here][0] / static_cast<float>(sizes[0]);
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

// Points lie around k sources, which overlap; features are multiples of 1/64 between -1 and 2.
static std::vector<float> random_points(int count, int k) {
    std::vector<float> points(static_cast<size_t>(count) * kFeatures);
    for (int p = 0; p < count; ++p) {
        const uint32_t source = hash32(static_cast<uint32_t>(p)) % static_cast<uint32_t>(k);
        for (int f = 0; f < kFeatures; ++f) {
            const uint32_t index = static_cast<uint32_t>(p * kFeatures + f);
            const float spread = noise(4 * index) + noise(4 * index + 1) + noise(4 * index + 2) - 1.5f;
            const float middle = noise(~(source * kFeatures + static_cast<uint32_t>(f)));
            points[index] = std::round(64.0f * (middle + 0.5f * spread)) / 64.0f;
        }
    }
    return points;
}

static double square_distance(const float* point, const double* centre) {
    double square = 0.0;
    for (int f = 0; f < kFeatures; ++f) {
        square += (point[f] - centre[f]) * (point[f] - centre[f]);
    }
    return square;
}

// The same rounds in double precision. A point may be in another group only if both centres are all but equally near;
// the centres must be the middles of the groups that the points are in at the end.
static bool agrees(const std::vector<int>& membership, const std::vector<float>& moved,
                   const std::vector<float>& points, int k, int rounds) {
    const int count = static_cast<int>(membership.size());
    std::vector<double> middles(points.begin(), points.begin() + k * kFeatures), squares(k);
    bool same = std::all_of(membership.begin(), membership.end(), [k](int group) { return 0 <= group && group < k; });
    for (int round = 1; same && round <= rounds; ++round) {
        std::vector<double> sums(middles.size());
        std::vector<int> sizes(k);
        for (int p = 0; p < count; ++p) {
            const float* const point = &points[static_cast<size_t>(p) * kFeatures];
            for (int c = 0; c < k; ++c) {
                squares[c] = square_distance(point, &middles[c * kFeatures]);
            }
            const auto nearest = std::min_element(squares.begin(), squares.end());
            size_t group = nearest - squares.begin();
            if (round == rounds) {
                group = membership[p];
                same = same && squares[group] <= *nearest * (1.0 + 1e-5);
            }
            ++sizes[group];
            for (int f = 0; f < kFeatures; ++f) {
                sums[group * kFeatures + f] += point[f];
            }
        }
        for (size_t i = 0; i < middles.size(); ++i) {
            middles[i] = sizes[i / kFeatures] > 0 ? sums[i] / sizes[i / kFeatures] : middles[i];
        }
    }
    for (size_t i = 0; i < middles.size(); ++i) {
        same = same && std::fabs(moved[i] - middles[i]) <= 1e-5;  // a NaN does not pass
    }
    return same;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int count = argc > 1 ? parse(argv[1], 1, 1 << 20) : 1500;
    const int k = argc > 2 ? parse(argv[2], 1, std::min(kMaxCentres, count)) : 5;
    const int rounds = argc > 3 ? parse(argv[3], 1, 1000) : 8;
    if (argc > 4 || count < 0 || k < 0 || rounds < 0) {
        std::fprintf(stderr, "usage: %s [points 1..1048576] [centres 1..16] [rounds 1..1000]\n", argv[0]);
        return 2;
    }

    const std::vector<float> points = random_points(count, k);
    float* device_points = nullptr;
    float* features = nullptr;
    int* device_membership = nullptr;
    float* device_middles = nullptr;
    int* device_changed = nullptr;
    const size_t bytes = points.size() * sizeof(float), membership_bytes = count * sizeof(int);
    const size_t middles_bytes = k * kFeatures * sizeof(float);
    CUDA_CHECK(cudaMalloc(&device_points, bytes));
    CUDA_CHECK(cudaMalloc(&features, bytes));
    CUDA_CHECK(cudaMalloc(&device_membership, membership_bytes));
    CUDA_CHECK(cudaMalloc(&device_middles, middles_bytes));
    CUDA_CHECK(cudaMalloc(&device_changed, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(device_points, points.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_middles, device_points, middles_bytes, cudaMemcpyDeviceToDevice));
    CUDA_CHECK(cudaMemset(device_membership, 0xff, membership_bytes));

    const int blocks = (count + kBlock - 1) / kBlock;
    transpose<<<blocks, kBlock>>>(device_points, features, count);
    CUDA_CHECK(cudaGetLastError());
    for (int round = 0; round < rounds; ++round) {
        CUDA_CHECK(cudaMemcpyToSymbol(centres, device_middles, middles_bytes, 0, cudaMemcpyDeviceToDevice));
        CUDA_CHECK(cudaMemset(device_changed, 0, sizeof(int)));
        assign<<<blocks, kBlock>>>(features, device_membership, device_changed, count, k);
        move_centres<<<k, kBlock>>>(features, device_membership, device_middles, count);
        CUDA_CHECK(cudaGetLastError());
    }

    int changed = 0;
    std::vector<int> membership(count);
    std::vector<float> middles(static_cast<size_t>(k) * kFeatures);
    CUDA_CHECK(cudaMemcpy(&changed, device_changed, sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(membership.data(), device_membership, membership_bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(middles.data(), device_middles, middles_bytes, cudaMemcpyDeviceToHost));
    for (float* array : {device_points, features, device_middles}) {
        CUDA_CHECK(cudaFree(array));
    }
    for (int* array : {device_membership, device_changed}) {
        CUDA_CHECK(cudaFree(array));
    }

    const bool pass = agrees(membership, middles, points, k, rounds);
    std::printf("kmeans %d points, %d centres: %d rounds, %d points changed in the last, checksum 0x%016llx, %s\n",
                count, k, rounds, changed,
                static_cast<unsigned long long>(checksum(membership.data(), membership_bytes)),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
