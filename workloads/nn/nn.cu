// nn: the k nearest neighbours of places among the positions of storms.
//
// A record is where a storm was seen, latitude and longitude in degrees; its distance from a place is Euclidean in
// these coordinates. Places are asked one after the other: a launch computes the distances of all records from one
// place, a thread for each record, into this place's row of the result. The host reads the distances and picks the
// k smallest of each row.

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

struct Position {
    float latitude, longitude;  // degrees north and east
};

constexpr int kBlock = 256;
constexpr int kSightings = 40;  // records of a storm

__global__ void __launch_bounds__(kBlock)
distances_from(const Position* __restrict__ records, float* __restrict__ distances, int count, Position place) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) {
        return;
    }
    const float north = records[i].latitude - place.latitude;
    const float east = records[i].longitude - place.longitude;
    distances[i] = sqrtf(north * north + east * east);
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

static float tenths(float degrees) { return std::round(10.0f * degrees) / 10.0f; }

// Storms come up over a warm ocean, drift westward and turn north; a sighting is rounded to a tenth of a degree.
static std::vector<Position> storm_tracks(int count) {
    std::vector<Position> records;
    for (uint32_t storm = 0; static_cast<int>(records.size()) < count; ++storm) {
        const uint32_t key = hash32(storm);
        Position eye = {10.0f + 15.0f * noise(key), -20.0f - 50.0f * noise(key + 1)};
        float westward = 0.6f + 0.8f * noise(key + 2);
        for (uint32_t s = 0; s < kSightings && static_cast<int>(records.size()) < count; ++s) {
            records.push_back({tenths(eye.latitude), tenths(eye.longitude)});
            eye.latitude += 0.2f + 0.8f * noise(key + 3 * s + 3);
            eye.longitude -= westward + 0.4f * (noise(key + 3 * s + 4) - 0.5f);
            westward -= 0.06f * noise(key + 3 * s + 5);
        }
    }
    return records;
}

// The indices of the k smallest distances, nearest first; of equal ones the first. What is no number is not near.
static std::vector<int> nearest(const float* distances, int count, int k) {
    std::vector<int> order;
    for (int i = 0; i < count; ++i) {
        if (!std::isnan(distances[i])) {
            order.push_back(i);
        }
    }
    const auto kept = order.begin() + std::min<size_t>(k, order.size());
    std::partial_sort(order.begin(), kept, order.end(), [&](int a, int b) {
        return distances[a] != distances[b] ? distances[a] < distances[b] : a < b;
    });
    order.erase(kept, order.end());
    return order;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int count = argc > 1 ? parse(argv[1], 1, 1 << 20) : 8000;
    const int queries = argc > 2 ? parse(argv[2], 1, 256) : 8;
    const int k = argc > 3 ? parse(argv[3], 1, count) : 10;
    if (argc > 4 || count < 0 || queries < 0 || k < 0) {
        std::fprintf(stderr, "usage: %s [records 1..1048576] [places 1..256] [k 1..records]\n", argv[0]);
        return 2;
    }

    const std::vector<Position> records = storm_tracks(count);
    std::vector<Position> places(queries);
    for (int q = 0; q < queries; ++q) {
        const uint32_t key = ~static_cast<uint32_t>(2 * q);
        places[q] = {tenths(15.0f + 25.0f * noise(key)), tenths(-80.0f + 40.0f * noise(key - 1))};
    }

    Position* device_records = nullptr;
    float* distances = nullptr;
    std::vector<float> result(static_cast<size_t>(queries) * count);
    const size_t bytes = result.size() * sizeof(float);
    CUDA_CHECK(cudaMalloc(&device_records, count * sizeof(Position)));
    CUDA_CHECK(cudaMalloc(&distances, bytes));
    CUDA_CHECK(cudaMemcpy(device_records, records.data(), count * sizeof(Position), cudaMemcpyHostToDevice));

    const int blocks = (count + kBlock - 1) / kBlock;
    for (int q = 0; q < queries; ++q) {
        float* const row = distances + static_cast<size_t>(q) * count;
        distances_from<<<blocks, kBlock>>>(device_records, row, count, places[q]);
        CUDA_CHECK(cudaGetLastError());
    }

    CUDA_CHECK(cudaMemcpy(result.data(), distances, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_records));
    CUDA_CHECK(cudaFree(distances));

    bool pass = true;
    std::vector<int> neighbours;
    float farthest = 0.0f;
    for (int q = 0; q < queries; ++q) {
        const float* const row = &result[static_cast<size_t>(q) * count];
        for (int i = 0; i < count; ++i) {
            const double expected = std::hypot(static_cast<double>(records[i].latitude) - places[q].latitude,
                                               static_cast<double>(records[i].longitude) - places[q].longitude);
            pass = pass && std::fabs(row[i] - expected) <= 1e-6 * expected;  // a NaN does not pass
        }
        for (const int i : nearest(row, count, k)) {
            neighbours.push_back(i);
            farthest = std::max(farthest, row[i]);
        }
    }
    std::printf("nn %d records, %d places: %d nearest of each within %.3f degrees, checksum 0x%016llx, %s\n", count,
                queries, k, farthest,
                static_cast<unsigned long long>(checksum(neighbours.data(), neighbours.size() * sizeof(int))),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
