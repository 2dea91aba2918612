// lavamd: potential and force on particles that interact only with those nearby.
//
// Space is divided into cubic boxes with equally many particles each. A particle feels all particles of its own box
// and of the boxes that touch it, which stands for a cut-off at the side of a box:
//
//     v(i) = sum over j of q(j) exp(-a^2 r^2)                        r = |x(i) - x(j)|
//     f(i) = sum over j of q(j) 2 a^2 exp(-a^2 r^2) (x(i) - x(j))
//
// The particle itself is one of them: it adds its charge to the potential, and nothing to the force. A block takes a
// box, a thread one particle of it. The block goes through the list of boxes nearby; it loads the particles of one
// into shared memory, and every thread adds up what they do to its own.

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

constexpr int kBlock = 32;  // threads of a block, and particles of a box at most

// What does not change during a launch. The boxes near box b are nearby[first[b]] to nearby[first[b + 1] - 1].
struct Space {
    int particles;  // of a box
    float a2;       // a^2
    const int* first;
    const int* nearby;
};

__global__ void __launch_bounds__(kBlock)
interact(Space space, const float4* __restrict__ particles, float4* __restrict__ result) {
    __shared__ float4 others[kBlock];

    const int here = static_cast<int>(threadIdx.x);
    const int box = static_cast<int>(blockIdx.x);
    const bool used = here < space.particles;
    const float4 own = used ? particles[box * space.particles + here] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);

    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const int end = space.first[box + 1];
    for (int i = space.first[box]; i < end; ++i) {
        if (used) {
            others[here] = particles[space.nearby[i] * space.particles + here];
        }
        __syncthreads();
        if (used) {
            for (int j = 0; j < space.particles; ++j) {
                const float4 other = others[j];
                const float dx = own.x - other.x;
                const float dy = own.y - other.y;
                const float dz = own.z - other.z;
                const float v = other.w * expf(-space.a2 * (dx * dx + dy * dy + dz * dz));
                const float f = 2.0f * space.a2 * v;
                sum.x += f * dx;
                sum.y += f * dy;
                sum.z += f * dz;
                sum.w += v;
            }
        }
        __syncthreads();  // everyone has read the box
    }
    if (used) {
        result[box * space.particles + here] = sum;
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

// Boxes on a grid, numbered along x first.
struct Grid {
    int nx, ny, nz;
    int boxes() const { return nx * ny * nz; }
    int x(int box) const { return box % nx; }
    int y(int box) const { return box / nx % ny; }
    int z(int box) const { return box / nx / ny; }
};

// A box itself and those that share a face, an edge or a corner with it, in ascending order.
static void list_nearby(const Grid& grid, std::vector<int>& first, std::vector<int>& nearby) {
    first.push_back(0);
    for (int box = 0; box < grid.boxes(); ++box) {
        const int x = grid.x(box), y = grid.y(box), z = grid.z(box);
        for (int w = std::max(z - 1, 0); w <= std::min(z + 1, grid.nz - 1); ++w) {
            for (int v = std::max(y - 1, 0); v <= std::min(y + 1, grid.ny - 1); ++v) {
                for (int u = std::max(x - 1, 0); u <= std::min(x + 1, grid.nx - 1); ++u) {
                    nearby.push_back((w * grid.ny + v) * grid.nx + u);
                }
            }
        }
        first.push_back(static_cast<int>(nearby.size()));
    }
}

// Somewhere in its box, with a charge between 0.1 and 1.
static float4 random_particle(const Grid& grid, int box, int index) {
    const uint32_t key = 4 * static_cast<uint32_t>(index);
    return {static_cast<float>(grid.x(box)) + noise(key), static_cast<float>(grid.y(box)) + noise(key + 1),
            static_cast<float>(grid.z(box)) + noise(key + 2), 0.1f + 0.9f * noise(key + 3)};
}

// Whether the result for one particle is right, but for rounding, which grows with what was added up.
static bool right(const Grid& grid, const std::vector<float4>& all, int per_box, float a2, int which, float4 found) {
    const float4 own = all[which];
    const int box = which / per_box;
    double x = 0.0, y = 0.0, z = 0.0, v = 0.0, magnitude = 0.0;
    for (int j = 0; j < static_cast<int>(all.size()); ++j) {
        const int other = j / per_box;
        if (std::abs(grid.x(box) - grid.x(other)) <= 1 && std::abs(grid.y(box) - grid.y(other)) <= 1 &&
            std::abs(grid.z(box) - grid.z(other)) <= 1) {
            const double dx = static_cast<double>(own.x) - all[j].x;
            const double dy = static_cast<double>(own.y) - all[j].y;
            const double dz = static_cast<double>(own.z) - all[j].z;
            const double r2 = dx * dx + dy * dy + dz * dz;
            const double potential = all[j].w * std::exp(-a2 * r2), force = 2.0 * a2 * potential;
            x += force * dx;
            y += force * dy;
            z += force * dz;
            v += potential;
            magnitude += force * std::sqrt(r2);
        }
    }
    const auto near = [](double a, double b, double scale) { return std::fabs(a - b) <= 5e-6 * scale; };
    return near(found.x, x, magnitude) && near(found.y, y, magnitude) && near(found.z, z, magnitude) &&
           near(found.w, v, v);  // a NaN is near nothing
}

template <typename T>
static T* to_device(const std::vector<T>& host) {
    T* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const Grid grid{argc > 1 ? parse(argv[1], 1, 32) : 3, argc > 2 ? parse(argv[2], 1, 32) : 3,
                    argc > 3 ? parse(argv[3], 1, 32) : 3};
    const int per_box = argc > 4 ? parse(argv[4], 1, kBlock) : 28;
    if (argc > 5 || grid.nx < 0 || grid.ny < 0 || grid.nz < 0 || per_box < 0) {
        std::fprintf(stderr, "usage: %s [boxes x 1..32] [y 1..32] [z 1..32] [particles of a box 1..%d]\n", argv[0],
                     kBlock);
        return 2;
    }

    const float a2 = 2.0f * 2.0f;  // at the cut-off, a fiftieth of the interaction is left
    std::vector<int> first, nearby;
    list_nearby(grid, first, nearby);
    std::vector<float4> particles(static_cast<size_t>(grid.boxes()) * per_box);
    for (int i = 0; i < static_cast<int>(particles.size()); ++i) {
        particles[i] = random_particle(grid, i / per_box, i);
    }

    int* device_first = to_device(first);
    int* device_nearby = to_device(nearby);
    float4* device_particles = to_device(particles);
    float4* device_result = nullptr;
    const size_t bytes = particles.size() * sizeof(float4);
    CUDA_CHECK(cudaMalloc(&device_result, bytes));

    const Space space{per_box, a2, device_first, device_nearby};
    interact<<<grid.boxes(), kBlock>>>(space, device_particles, device_result);
    CUDA_CHECK(cudaGetLastError());

    std::vector<float4> result(particles.size());
    CUDA_CHECK(cudaMemcpy(result.data(), device_result, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_first));
    CUDA_CHECK(cudaFree(device_nearby));
    CUDA_CHECK(cudaFree(device_particles));
    CUDA_CHECK(cudaFree(device_result));

    bool pass = true;
    double potential = 0.0;
    for (int i = 0; i < static_cast<int>(result.size()); ++i) {
        pass = pass && right(grid, particles, per_box, a2, i, result[i]);
        potential += result[i].w;
    }
    std::printf("lavamd %dx%dx%d boxes of %d particles: potential %.4f, checksum 0x%016llx, %s\n", grid.nx, grid.ny,
                grid.nz, per_box, potential, static_cast<unsigned long long>(checksum(result.data(), bytes)),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
