// lbm: the flow in a lid-driven cavity by the lattice Boltzmann method, 19 velocities on a three-dimensional grid.
//
// A cell holds the density of particles for each of 19 velocities e: at rest, along the axes, and along the diagonals
// of the coordinate planes. With density rho and mean velocity u of the cell and the weights w of the velocities, a
// step is
//
//     f'(x + e, e) = (1 - omega) f(x, e) + omega w(e) rho (1 + 3 e.u + 4.5 (e.u)^2 - 1.5 u.u)
//
// in fluid cells; cells of the walls send back what they receive. Walls are at the four sides of x and z, y is
// periodic; the cells below the upper wall are the lid: they relax towards a given velocity. Two arrays of
// distributions take turns. At the end a second kernel makes the velocity of each cell from its distributions.

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

constexpr int kVelocities = 19;
constexpr int kBlock = 128;
constexpr float kOmega = 1.95f;                     // how fast a cell relaxes: a viscosity of (1 / omega - 1 / 2) / 3
constexpr float kLidX = 0.005f, kLidY = 0.002f;     // the velocity of the lid
constexpr uint8_t kFluid = 0, kWall = 1, kLid = 2;  // kinds of cells

struct Size {
    int x, y, z;
};

// The velocities: opposite ones are neighbours, so that the opposite of an odd e is e + 1, of an even one e - 1.
__host__ __device__ constexpr int velocity(int e, int axis) {
    constexpr int table[kVelocities][3] = {
        {0, 0, 0},  {1, 0, 0},   {-1, 0, 0}, {0, 1, 0},  {0, -1, 0},  {0, 0, 1},  {0, 0, -1},
        {1, 1, 0},  {-1, -1, 0}, {1, -1, 0}, {-1, 1, 0}, {1, 0, 1},   {-1, 0, -1},
        {1, 0, -1}, {-1, 0, 1},  {0, 1, 1},  {0, -1, -1}, {0, 1, -1}, {0, -1, 1}};
    return table[e][axis];
}

__host__ __device__ constexpr int opposite(int e) { return e == 0 ? 0 : (e % 2 == 1 ? e + 1 : e - 1); }

__host__ __device__ constexpr float weight(int e) {
    return e == 0 ? 1.0f / 3.0f : (e < 7 ? 1.0f / 18.0f : 1.0f / 36.0f);
}

struct Flow {
    float density, x, y, z;
};

__device__ Flow flow_of(const float (&f)[kVelocities]) {
    Flow flow = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int e = 0; e < kVelocities; ++e) {
        flow.density += f[e];
        flow.x += static_cast<float>(velocity(e, 0)) * f[e];
        flow.y += static_cast<float>(velocity(e, 1)) * f[e];
        flow.z += static_cast<float>(velocity(e, 2)) * f[e];
    }
    flow.x /= flow.density;
    flow.y /= flow.density;
    flow.z /= flow.density;
    return flow;
}

__device__ void collide(float (&f)[kVelocities], bool lid) {
    Flow flow = flow_of(f);
    flow.x = lid ? kLidX : flow.x;
    flow.y = lid ? kLidY : flow.y;
    flow.z = lid ? 0.0f : flow.z;
    const float rest = 1.0f - 1.5f * (flow.x * flow.x + flow.y * flow.y + flow.z * flow.z);
#pragma unroll
    for (int e = 0; e < kVelocities; ++e) {
        const float along = static_cast<float>(velocity(e, 0)) * flow.x + static_cast<float>(velocity(e, 1)) * flow.y +
                            static_cast<float>(velocity(e, 2)) * flow.z;
        const float equilibrium = weight(e) * flow.density * (rest + along * (3.0f + 4.5f * along));
        f[e] = (1.0f - kOmega) * f[e] + kOmega * equilibrium;
    }
}

// The neighbour of a coordinate at -1, 0 or 1, around the ends of its axis.
__device__ int neighbour(int at, int offset, int length) {
    const int there = at + offset;
    return there < 0 ? length - 1 : (there == length ? 0 : there);
}

__global__ void __launch_bounds__(kBlock)
stream_collide(const float* __restrict__ before, float* __restrict__ after, const uint8_t* __restrict__ kinds,
               Size size) {
    const int cells = size.x * size.y * size.z;
    const int cell = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (cell >= cells) {
        return;
    }
    const int x = cell % size.x, y = cell / size.x % size.y, z = cell / size.x / size.y;

    float f[kVelocities];
#pragma unroll
    for (int e = 0; e < kVelocities; ++e) {
        f[e] = before[e * cells + cell];
    }

    const uint8_t kind = kinds[cell];
    if (kind == kWall) {
#pragma unroll
        for (int e = 1; e < kVelocities; e += 2) {
            const float kept = f[e];
            f[e] = f[opposite(e)];
            f[opposite(e)] = kept;
        }
    } else {
        collide(f, kind == kLid);
    }

#pragma unroll
    for (int e = 0; e < kVelocities; ++e) {
        const int to_x = neighbour(x, velocity(e, 0), size.x);
        const int to_y = neighbour(y, velocity(e, 1), size.y);
        const int to_z = neighbour(z, velocity(e, 2), size.z);
        after[e * cells + (to_z * size.y + to_y) * size.x + to_x] = f[e];
    }
}

// Three arrays one after another; zero in walls.
__global__ void __launch_bounds__(kBlock)
velocities(const float* __restrict__ distributions, const uint8_t* __restrict__ kinds, float* __restrict__ result,
           int cells) {
    const int cell = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (cell >= cells) {
        return;
    }
    Flow flow = {1.0f, 0.0f, 0.0f, 0.0f};
    if (kinds[cell] != kWall) {
        float f[kVelocities];
#pragma unroll
        for (int e = 0; e < kVelocities; ++e) {
            f[e] = distributions[e * cells + cell];
        }
        flow = flow_of(f);
    }
    result[cell] = flow.x;
    result[cells + cell] = flow.y;
    result[2 * cells + cell] = flow.z;
}

// FNV-1a over bytes.
static uint64_t checksum(const void* data, size_t bytes) {
    uint64_t sum = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

static std::vector<uint8_t> cavity(Size size) {
    std::vector<uint8_t> kinds;
    for (int z = 0; z < size.z; ++z) {
        for (int i = 0; i < size.x * size.y; ++i) {
            const int x = i % size.x;
            const bool wall = x == 0 || x == size.x - 1 || z == 0 || z == size.z - 1;
            kinds.push_back(wall ? kWall : (z == size.z - 2 ? kLid : kFluid));
        }
    }
    return kinds;
}

// One step of one cell in double precision: the same, written as a gather of what arrives.
static void reference_step(const std::vector<double>& before, std::vector<double>& after,
                           const std::vector<uint8_t>& kinds, Size size) {
    const int cells = size.x * size.y * size.z;
    for (int cell = 0; cell < cells; ++cell) {
        double density = 0.0, u[3] = {0.0, 0.0, 0.0};
        for (int e = 0; e < kVelocities; ++e) {
            density += before[e * cells + cell];
            for (int axis = 0; axis < 3; ++axis) {
                u[axis] += velocity(e, axis) * before[e * cells + cell];
            }
        }
        for (int axis = 0; axis < 3; ++axis) {
            const double lid[3] = {kLidX, kLidY, 0.0};
            u[axis] = kinds[cell] == kLid ? lid[axis] : u[axis] / density;
        }
        for (int e = 0; e < kVelocities; ++e) {
            const double along = velocity(e, 0) * u[0] + velocity(e, 1) * u[1] + velocity(e, 2) * u[2];
            const double speed = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
            const double w = e == 0 ? 1.0 / 3.0 : (e < 7 ? 1.0 / 18.0 : 1.0 / 36.0);
            const double equilibrium = w * density * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * speed);
            const double collided = (1.0 - kOmega) * before[e * cells + cell] + kOmega * equilibrium;
            const int to_x = (cell % size.x + velocity(e, 0) + size.x) % size.x;
            const int to_y = (cell / size.x % size.y + velocity(e, 1) + size.y) % size.y;
            const int to_z = (cell / size.x / size.y + velocity(e, 2) + size.z) % size.z;
            after[e * cells + (to_z * size.y + to_y) * size.x + to_x] =
                kinds[cell] == kWall ? before[opposite(e) * cells + cell] : collided;
        }
    }
}

static std::vector<double> reference(const std::vector<float>& start, const std::vector<uint8_t>& kinds, Size size,
                                     int steps) {
    std::vector<double> now(start.begin(), start.end()), next(now);
    for (int done = 0; done < steps; ++done) {
        reference_step(now, next, kinds, size);
        std::swap(now, next);
    }
    const size_t cells = kinds.size();
    std::vector<double> result(3 * cells, 0.0);
    for (size_t cell = 0; cell < cells; ++cell) {
        double density = 0.0;
        for (int e = 0; e < kVelocities; ++e) {
            density += now[e * cells + cell];
        }
        for (int i = 0; kinds[cell] != kWall && i < 3 * kVelocities; ++i) {
            result[i % 3 * cells + cell] += velocity(i / 3, i % 3) * now[i / 3 * cells + cell] / density;
        }
    }
    return result;
}

template <typename T>
static T* device_copy(const std::vector<T>& host) {
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
    Size size = {24, 4, 24};
    size.x = argc > 1 ? parse(argv[1], 3, 128) : size.x;
    size.y = argc > 2 ? parse(argv[2], 1, 128) : size.y;
    size.z = argc > 3 ? parse(argv[3], 4, 128) : size.z;
    const int steps = argc > 4 ? parse(argv[4], 1, 1000) : 6;
    if (argc > 5 || size.x < 0 || size.y < 0 || size.z < 0 || steps < 0) {
        std::fprintf(stderr, "usage: %s [x 3..128] [y 1..128] [z 4..128] [steps 1..1000]\n", argv[0]);
        return 2;
    }

    // A fluid at rest.
    const int cells = size.x * size.y * size.z;
    const std::vector<uint8_t> host_kinds = cavity(size);
    std::vector<float> start(static_cast<size_t>(kVelocities) * cells);
    for (int e = 0; e < kVelocities; ++e) {
        std::fill_n(start.begin() + static_cast<size_t>(e) * cells, cells, weight(e));
    }
    std::vector<float> result(3 * static_cast<size_t>(cells));

    float* before = device_copy(start);
    float* after = device_copy(start);
    uint8_t* kinds = device_copy(host_kinds);
    float* device_result = device_copy(result);
    const int blocks = (cells + kBlock - 1) / kBlock;
    for (int done = 0; done < steps; ++done) {
        stream_collide<<<blocks, kBlock>>>(before, after, kinds, size);
        CUDA_CHECK(cudaGetLastError());
        std::swap(before, after);
    }
    velocities<<<blocks, kBlock>>>(before, kinds, device_result, cells);
    CUDA_CHECK(cudaGetLastError());

    const size_t bytes = result.size() * sizeof(float);
    CUDA_CHECK(cudaMemcpy(result.data(), device_result, bytes, cudaMemcpyDeviceToHost));
    for (float* array : {before, after, device_result}) {
        CUDA_CHECK(cudaFree(array));
    }
    CUDA_CHECK(cudaFree(kinds));

    const std::vector<double> expected = reference(start, host_kinds, size, steps);
    bool pass = true;
    for (size_t i = 0; i < result.size(); ++i) {
        pass = pass && std::fabs(result[i] - expected[i]) <= 1e-6;  // a NaN does not pass
    }
    const auto walls = std::count(host_kinds.begin(), host_kinds.end(), kWall);
    const double percent = 100.0 * static_cast<double>(walls) / cells;
    std::printf("lbm %dx%dx%d, %.0f%% walls, %d steps: fastest %.6f, checksum 0x%016llx, %s\n", size.x, size.y, size.z,
                percent, steps, *std::max_element(result.begin(), result.end()),
                static_cast<unsigned long long>(checksum(result.data(), bytes)), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
