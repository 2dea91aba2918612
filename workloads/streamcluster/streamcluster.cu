// streamcluster: k-median clustering of a chunk of a stream of points, by local search with a price for every centre.
//
// Each point goes to a centre and costs its weight times the squared distance; each open centre costs `opening`. One
// point after the other, in random order, is a candidate for a further centre. Opening it saves what the points save
// that are nearer to it than to their own centres. It also closes every centre whose other points lose less than its
// opening cost by going to the candidate. The candidate is opened if all that is a gain.
//
// `pgain` has a thread for every point: it compares the candidate, which the block has in shared memory, to the point's
// centre and leaves the difference in a work array, in the row of that centre (a loss) or in the last row (a saving).
// `total` sums up every row with one block. The host reads the sums and decides; `reassign` then moves the points that
// gain and those whose centres close.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
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
constexpr int kMaxDims = 128;

// Coordinate d of point i is at d * points + i. Row r of `work` begins at r * points.
__global__ void __launch_bounds__(kBlock)
pgain(const float* __restrict__ coordinates, const float* __restrict__ weights, const int* __restrict__ centres,
      const float* __restrict__ costs, const int* __restrict__ slots, float* work, float* offers, uint8_t* gains,
      int points, int dims, int open, int candidate) {
    __shared__ float centre[kMaxDims];

    for (int d = static_cast<int>(threadIdx.x); d < dims; d += kBlock) {
        centre[d] = coordinates[d * points + candidate];
    }
    __syncthreads();

    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= points) {
        return;
    }
    float square = 0.0f;
    for (int d = 0; d < dims; ++d) {
        const float along = coordinates[d * points + i] - centre[d];
        square += along * along;
    }
    const float offer = weights[i] * square;
    const float saving = costs[i] - offer;

    offers[i] = offer;
    gains[i] = saving > 0.0f;
    const int row = saving > 0.0f ? open : slots[centres[i]];
    work[row * points + i] = saving;
}

__global__ void __launch_bounds__(kBlock) total(const float* __restrict__ work, float* sums, int points) {
    __shared__ float sum[kBlock];

    const int thread = static_cast<int>(threadIdx.x);
    const float* row = work + static_cast<int>(blockIdx.x) * points;
    float own = 0.0f;
    for (int i = thread; i < points; i += kBlock) {
        own += row[i];
    }
    sum[thread] = own;
    for (int half = kBlock / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) {
            sum[thread] += sum[thread + half];
        }
    }
    if (thread == 0) {
        sums[blockIdx.x] = sum[0];
    }
}

__global__ void reassign(const float* __restrict__ sums, const int* __restrict__ slots,
                         const float* __restrict__ offers, const uint8_t* __restrict__ gains, int* centres,
                         float* costs, int points, int candidate, float opening) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= points) {
        return;
    }
    const bool closes = sums[slots[centres[i]]] + opening > 0.0f;
    if (gains[i] || closes) {
        centres[i] = candidate;
        costs[i] = offers[i];
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

// FNV-1a over bytes, from the sum of the bytes before.
static uint64_t checksum(const void* data, size_t bytes, uint64_t sum = 0xcbf29ce484222325ull) {
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

struct Points {
    int count, dims;
    std::vector<float> coordinates, weights;

    double cost(int point, int centre) const {
        double square = 0.0;
        for (int d = 0; d < dims; ++d) {
            const double along = static_cast<double>(coordinates[d * count + point]) - coordinates[d * count + centre];
            square += along * along;
        }
        return weights[point] * square;
    }
};

// Clouds of points around ten places, with weights of 1 to 4.
static Points clouds(int count, int dims) {
    Points points = {count, dims, std::vector<float>(static_cast<size_t>(count) * dims), std::vector<float>(count)};
    for (int i = 0; i < count; ++i) {
        const uint32_t key = hash32(static_cast<uint32_t>(i));
        points.weights[i] = static_cast<float>(1 + (key >> 8) % 4);
        for (int d = 0; d < dims; ++d) {
            const float place = noise(0x10000000u + key % 10 * kMaxDims + d);
            const uint32_t index = 2 * (static_cast<uint32_t>(i) * dims + d);
            points.coordinates[static_cast<size_t>(d) * count + i] = place + 0.3f * (noise(index) + noise(index + 1));
        }
    }
    return points;
}

struct Clustering {
    std::vector<int> centres;   // of every point
    std::vector<double> costs;  // of every point
    std::vector<int> open;
};

// All points at the first centre, then the same search.
static Clustering reference(const Points& points, const std::vector<int>& candidates, double opening) {
    const int first = candidates[0];
    Clustering now = {std::vector<int>(points.count, first), std::vector<double>(points.count), {first}};
    for (int i = 0; i < points.count; ++i) {
        now.costs[i] = points.cost(i, first);
    }
    for (int candidate : candidates) {
        if (std::count(now.open.begin(), now.open.end(), candidate)) {
            continue;
        }
        double gain = -opening;
        std::vector<double> losses(points.count);  // of every centre
        for (int i = 0; i < points.count; ++i) {
            const double saving = now.costs[i] - points.cost(i, candidate);
            (saving > 0.0 ? gain : losses[now.centres[i]]) += saving;
        }
        for (int centre : now.open) {
            gain += std::max(opening + losses[centre], 0.0);
        }
        if (gain <= 0.0) {
            continue;
        }
        for (int i = 0; i < points.count; ++i) {
            const double offer = points.cost(i, candidate);
            if (offer < now.costs[i] || opening + losses[now.centres[i]] > 0.0) {
                now.centres[i] = candidate;
                now.costs[i] = offer;
            }
        }
        const auto closes = [&](int centre) { return opening + losses[centre] > 0.0; };
        now.open.erase(std::remove_if(now.open.begin(), now.open.end(), closes), now.open.end());
        now.open.push_back(candidate);
    }
    return now;
}

template <typename T>
static T* device_array(size_t count) {
    T* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, count * sizeof(T)));
    return device;
}

template <typename T>
static void to_device(T* device, const std::vector<T>& host) {
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int count = argc > 1 ? parse(argv[1], 2, 65536) : 800;
    const int dims = argc > 2 ? parse(argv[2], 1, kMaxDims) : 14;
    const int tries = argc > 3 ? parse(argv[3], 1, 1000) : 20;
    if (argc > 4 || count < 0 || dims < 0 || tries < 0) {
        std::fprintf(stderr, "usage: %s [points 2..65536] [dimensions 1..%d] [candidates 1..1000]\n", argv[0],
                     kMaxDims);
        return 2;
    }

    const Points points = clouds(count, dims);
    const float opening = 0.01f * static_cast<float>(count) * static_cast<float>(dims);
    std::vector<int> candidates(count);
    for (int i = 0; i < count; ++i) {
        candidates[i] = i;
        std::swap(candidates[i], candidates[hash32(0x20000000u + i) % (i + 1)]);
    }
    candidates.resize(std::min(count, tries + 1));

    // The first of them is the first centre.
    std::vector<int> open{candidates[0]};
    std::vector<int> centres(count, open[0]), slots(count, -1);
    std::vector<float> costs(count);
    for (int i = 0; i < count; ++i) {
        costs[i] = static_cast<float>(points.cost(i, open[0]));
    }
    slots[open[0]] = 0;

    float* device_coordinates = device_array<float>(points.coordinates.size());
    float* device_weights = device_array<float>(count);
    int* device_centres = device_array<int>(count);
    float* device_costs = device_array<float>(count);
    int* device_slots = device_array<int>(count);
    float* work = device_array<float>((candidates.size() + 1) * count);
    float* device_sums = device_array<float>(candidates.size() + 1);
    float* offers = device_array<float>(count);
    uint8_t* gains = device_array<uint8_t>(count);
    to_device(device_coordinates, points.coordinates);
    to_device(device_weights, points.weights);
    to_device(device_centres, centres);
    to_device(device_costs, costs);
    to_device(device_slots, slots);

    const int blocks = (count + kBlock - 1) / kBlock;
    int opened = 0;
    for (int candidate : candidates) {
        if (slots[candidate] >= 0) {
            continue;
        }
        const int rows = static_cast<int>(open.size()) + 1;
        CUDA_CHECK(cudaMemset(work, 0, rows * count * sizeof(float)));
        pgain<<<blocks, kBlock>>>(device_coordinates, device_weights, device_centres, device_costs, device_slots, work,
                                  offers, gains, count, dims, rows - 1, candidate);
        total<<<rows, kBlock>>>(work, device_sums, count);
        CUDA_CHECK(cudaGetLastError());
        std::vector<float> sums(rows);
        CUDA_CHECK(cudaMemcpy(sums.data(), device_sums, rows * sizeof(float), cudaMemcpyDeviceToHost));

        double gain = sums[rows - 1] - opening;
        std::vector<int> still_open;
        for (int slot = 0; slot < rows - 1; ++slot) {
            const float saved = sums[slot] + opening;
            if (saved > 0.0f) {
                gain += saved;
            } else {
                still_open.push_back(open[slot]);
            }
        }
        if (!(gain > 0.0)) {
            continue;
        }
        reassign<<<blocks, kBlock>>>(device_sums, device_slots, offers, gains, device_centres, device_costs, count,
                                     candidate, opening);
        CUDA_CHECK(cudaGetLastError());
        ++opened;
        open = still_open;
        open.push_back(candidate);
        std::fill(slots.begin(), slots.end(), -1);
        for (size_t slot = 0; slot < open.size(); ++slot) {
            slots[open[slot]] = static_cast<int>(slot);
        }
        to_device(device_slots, slots);
    }

    const size_t bytes = count * sizeof(float);
    CUDA_CHECK(cudaMemcpy(centres.data(), device_centres, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(costs.data(), device_costs, bytes, cudaMemcpyDeviceToHost));
    for (float* array : {device_coordinates, device_weights, device_costs, work, device_sums, offers}) {
        CUDA_CHECK(cudaFree(array));
    }
    for (int* array : {device_centres, device_slots}) {
        CUDA_CHECK(cudaFree(array));
    }
    CUDA_CHECK(cudaFree(gains));

    // Where two centres are equally near, either will do.
    const Clustering expected = reference(points, candidates, opening);
    bool pass = open == expected.open;
    double sum = opening * static_cast<double>(open.size());
    for (int i = 0; i < count; ++i) {
        const double good = 1e-4 * expected.costs[i] + 1e-6;
        const bool is_open = std::count(open.begin(), open.end(), centres[i]) == 1;
        pass = pass && std::fabs(costs[i] - expected.costs[i]) <= good && is_open &&
               std::fabs(points.cost(i, centres[i]) - expected.costs[i]) <= good;  // a NaN does not pass
        sum += costs[i];
    }
    std::printf("streamcluster %d points of %d dimensions, %zu candidates: %d opened, %zu open, cost %.3f, "
                "checksum 0x%016llx, %s\n",
                count, dims, candidates.size() - 1, opened, open.size(), sum,
                static_cast<unsigned long long>(checksum(costs.data(), bytes, checksum(centres.data(), bytes))),
                pass ? "PASS" : "FAIL");
    return 0;  // the text says how it ended: a wrong result is a silent corruption, as where nobody checks
}
