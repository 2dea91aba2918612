// water: molecular dynamics of water in a periodic box, every molecule against every other one within a cut-off.
//
// A molecule is an oxygen and two hydrogens with charges, held by three springs: from the oxygen to either hydrogen,
// and between these. Molecules whose oxygens are nearer than the cut-off act on each other by the charges of all their
// atoms, and by a Lennard-Jones potential between the oxygens:
//
//     u = sum over a, b of coulomb q(a) q(b) / r(a, b) + 4 epsilon ((sigma / r)^12 - (sigma / r)^6)
//
// The nearest image of the other oxygen tells which image of a molecule counts. Time goes on by velocity Verlet: half
// of a step's change of the velocities, the positions, the forces there, and the other half. A thread takes a molecule,
// and for the forces a block stages the others in shared memory, a tile after the other. One block adds up the energies
// after every step, in a fixed order. Steps are few: rounding grows with them, and after some hundred host and device no
// longer agree.
//
// Units: angstrom, femtosecond, unified atomic mass, and what follows for the energy; elementary charge.

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

constexpr int kBlock = 32;
constexpr int kAdders = 128;  // threads that add up the energies
constexpr int kAtoms = 3;     // oxygen, hydrogen, hydrogen

constexpr double kKilocalorie = 4.184e-4;  // for each mole
constexpr double kCoulomb = 332.06371 * kKilocalorie;
constexpr double kEpsilon = 0.1554 * kKilocalorie, kSigma = 3.1655;
constexpr double kBond = 1059.0 * kKilocalorie, kBondLength = 1.012;
constexpr double kSpread = 245.0 * kKilocalorie, kSpreadLength = 1.690;
constexpr double kOxygenMass = 15.9994, kHydrogenMass = 1.008;
constexpr double kOxygenCharge = -0.82, kHydrogenCharge = 0.41;
constexpr double kSpacing = 3.104;  // of molecules in a cube at 1 g/cm^3
constexpr double kCutoff = 6.0;
constexpr double kTimeStep = 0.5;

struct Vector {
    double x, y, z;
};

struct Molecule {
    Vector atoms[kAtoms];
};

struct Energies {
    double potential, kinetic;
};

__host__ __device__ inline Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }

__host__ __device__ inline Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }

__host__ __device__ inline Vector operator*(double s, Vector a) { return {s * a.x, s * a.y, s * a.z}; }

__host__ __device__ inline double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

__host__ __device__ inline double mass(int atom) { return atom == 0 ? kOxygenMass : kHydrogenMass; }

__host__ __device__ inline double charge(int atom) { return atom == 0 ? kOxygenCharge : kHydrogenCharge; }

// A spring pulls `a` towards `b` and the other way round; its energy.
__host__ __device__ inline double pull(const Molecule& at, Molecule& force, int a, int b, double strength,
                                       double length) {
    const Vector along = at.atoms[b] - at.atoms[a];
    const double distance = sqrt(dot(along, along));
    const double stretch = distance - length;
    const Vector drawn = (strength * stretch / distance) * along;
    force.atoms[a] = force.atoms[a] + drawn;
    force.atoms[b] = force.atoms[b] - drawn;
    return 0.5 * strength * stretch * stretch;
}

// What another molecule does to one, if it is near enough; the energy of the pair.
__host__ __device__ inline double push(const Molecule& at, const Molecule& other, Molecule& force, double box,
                                       double cutoff2) {
    const Vector apart = at.atoms[0] - other.atoms[0];
    const Vector shift = {-box * rint(apart.x / box), -box * rint(apart.y / box), -box * rint(apart.z / box)};
    const Vector nearest = apart + shift;
    const double square = dot(nearest, nearest);
    if (square >= cutoff2) {
        return 0.0;
    }
    const double inverse = kSigma * kSigma / square;
    const double sixth = inverse * inverse * inverse;
    double energy = 4.0 * kEpsilon * (sixth * sixth - sixth);
    force.atoms[0] = force.atoms[0] + (24.0 * kEpsilon * (2.0 * sixth * sixth - sixth) / square) * nearest;

#pragma unroll
    for (int a = 0; a < kAtoms; ++a) {
#pragma unroll
        for (int b = 0; b < kAtoms; ++b) {
            const Vector along = at.atoms[a] - other.atoms[b] + shift;
            const double distance2 = dot(along, along);
            const double pair = kCoulomb * charge(a) * charge(b) / sqrt(distance2);
            energy += pair;
            force.atoms[a] = force.atoms[a] + (pair / distance2) * along;
        }
    }
    return energy;
}

__global__ void __launch_bounds__(kBlock)
forces(const Molecule* __restrict__ positions, Molecule* forces, double* potentials, int molecules, double box,
       double cutoff2) {
    __shared__ Molecule tile[kBlock];

    const int thread = static_cast<int>(threadIdx.x);
    const int i = static_cast<int>(blockIdx.x) * kBlock + thread;
    const Molecule own = positions[min(i, molecules - 1)];
    Molecule force = {};
    double pairs = 0.0;
    for (int first = 0; first < molecules; first += kBlock) {
        if (first + thread < molecules) {
            tile[thread] = positions[first + thread];
        }
        __syncthreads();
        const int count = min(kBlock, molecules - first);
        for (int j = 0; j < count; ++j) {
            if (first + j != i) {
                pairs += push(own, tile[j], force, box, cutoff2);
            }
        }
        __syncthreads();
    }
    if (i >= molecules) {
        return;
    }
    double springs = pull(own, force, 0, 1, kBond, kBondLength);
    springs += pull(own, force, 0, 2, kBond, kBondLength);
    springs += pull(own, force, 1, 2, kSpread, kSpreadLength);
    forces[i] = force;
    potentials[i] = 0.5 * pairs + springs;
}

// Half of a step's change of the velocities, and the positions after the step.
__global__ void __launch_bounds__(kBlock)
move(Molecule* positions, Molecule* velocities, const Molecule* __restrict__ forces, int molecules) {
    const int i = static_cast<int>(blockIdx.x) * kBlock + static_cast<int>(threadIdx.x);
    if (i >= molecules) {
        return;
    }
#pragma unroll
    for (int a = 0; a < kAtoms; ++a) {
        const Vector velocity = velocities[i].atoms[a] + (0.5 * kTimeStep / mass(a)) * forces[i].atoms[a];
        velocities[i].atoms[a] = velocity;
        positions[i].atoms[a] = positions[i].atoms[a] + kTimeStep * velocity;
    }
}

// The other half, and the energy of the motion.
__global__ void __launch_bounds__(kBlock)
turn(Molecule* velocities, const Molecule* __restrict__ forces, double* kinetics, int molecules) {
    const int i = static_cast<int>(blockIdx.x) * kBlock + static_cast<int>(threadIdx.x);
    if (i >= molecules) {
        return;
    }
    double energy = 0.0;
#pragma unroll
    for (int a = 0; a < kAtoms; ++a) {
        const Vector velocity = velocities[i].atoms[a] + (0.5 * kTimeStep / mass(a)) * forces[i].atoms[a];
        velocities[i].atoms[a] = velocity;
        energy += 0.5 * mass(a) * dot(velocity, velocity);
    }
    kinetics[i] = energy;
}

__global__ void __launch_bounds__(kAdders)
total(const double* __restrict__ potentials, const double* __restrict__ kinetics, Energies* energies, int molecules) {
    __shared__ double potential[kAdders], kinetic[kAdders];

    const int thread = static_cast<int>(threadIdx.x);
    double own_potential = 0.0, own_kinetic = 0.0;
    for (int i = thread; i < molecules; i += kAdders) {
        own_potential += potentials[i];
        own_kinetic += kinetics[i];
    }
    potential[thread] = own_potential;
    kinetic[thread] = own_kinetic;
    for (int half = kAdders / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) {
            potential[thread] += potential[thread + half];
            kinetic[thread] += kinetic[thread + half];
        }
    }
    if (thread == 0) {
        *energies = {potential[0], kinetic[0]};
    }
}

// A well-mixed 32-bit hash, and the same as a number in [-1, 1): the start is a function of seed and molecule.
static uint32_t hash32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

static double noise(uint32_t x) { return hash32(x) * (1.0 / 2147483648.0) - 1.0; }

// FNV-1a over bytes, from the sum of the bytes before.
static uint64_t checksum(const void* data, size_t bytes, uint64_t sum = 0xcbf29ce484222325ull) {
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

static Vector noisy(uint32_t key, double size) {
    return {size * noise(key), size * noise(key + 1), size * noise(key + 2)};
}

struct Water {
    double box, cutoff2;
    std::vector<Molecule> positions, velocities;
};

// Molecules about the places of a cube, turned to one of six sides, at about 300 K.
static Water water(int molecules, uint32_t key) {
    int side = 1;
    while (side * side * side < molecules) {
        ++side;
    }
    Water it = {side * kSpacing, 0.0, std::vector<Molecule>(molecules), std::vector<Molecule>(molecules)};
    const double cutoff = std::fmin(kCutoff, 0.5 * it.box);
    it.cutoff2 = cutoff * cutoff;
    for (int i = 0; i < molecules; ++i) {
        const uint32_t own = hash32(key + static_cast<uint32_t>(i));
        const Vector axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
        const Vector front = (own & 8 ? 0.56 : -0.56) * axes[(own >> 4) % 3];
        const Vector beside = 0.845 * axes[((own >> 4) % 3 + 1) % 3];
        const Vector place = {i % side + 0.5, i / side % side + 0.5, i / (side * side) + 0.5};
        const Vector centre = kSpacing * place + noisy(own + 10, 0.1);
        it.positions[i] = {{centre, centre + front + beside + noisy(own + 20, 0.04),
                            centre + front - beside + noisy(own + 30, 0.04)}};
        it.velocities[i] = {{noisy(own + 40, 0.007), noisy(own + 50, 0.027), noisy(own + 60, 0.027)}};
    }
    return it;
}

// The same steps, one molecule after the other; positions are left in `water`.
static std::vector<Energies> reference(Water& water, int steps) {
    const int molecules = static_cast<int>(water.positions.size());
    std::vector<Molecule> forces(molecules);
    double potential = 0.0;
    const auto act = [&]() {
        potential = 0.0;
        for (int i = 0; i < molecules; ++i) {
            const Molecule& own = water.positions[i];
            forces[i] = {};
            for (int j = 0; j < molecules; ++j) {
                potential += i == j ? 0.0 : 0.5 * push(own, water.positions[j], forces[i], water.box, water.cutoff2);
            }
            potential += pull(own, forces[i], 0, 1, kBond, kBondLength);
            potential += pull(own, forces[i], 0, 2, kBond, kBondLength);
            potential += pull(own, forces[i], 1, 2, kSpread, kSpreadLength);
        }
    };
    std::vector<Energies> energies;
    act();
    for (int step = 0; step < steps; ++step) {
        for (int i = 0; i < molecules; ++i) {
            for (int a = 0; a < kAtoms; ++a) {
                Vector& velocity = water.velocities[i].atoms[a];
                velocity = velocity + (0.5 * kTimeStep / mass(a)) * forces[i].atoms[a];
                water.positions[i].atoms[a] = water.positions[i].atoms[a] + kTimeStep * velocity;
            }
        }
        act();
        double kinetic = 0.0;
        for (int i = 0; i < molecules; ++i) {
            for (int a = 0; a < kAtoms; ++a) {
                Vector& velocity = water.velocities[i].atoms[a];
                velocity = velocity + (0.5 * kTimeStep / mass(a)) * forces[i].atoms[a];
                kinetic += 0.5 * mass(a) * dot(velocity, velocity);
            }
        }
        energies.push_back({potential, kinetic});
    }
    return energies;
}

// A NaN is not close.
static bool close(double value, double expected, double scale) { return std::fabs(value - expected) <= 1e-9 * scale; }

template <typename T>
static T* device_array(size_t count) {
    T* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, count * sizeof(T)));
    return device;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int molecules = argc > 1 ? parse(argv[1], 1, 8192) : 27;
    const int steps = argc > 2 ? parse(argv[2], 1, 100) : 2;
    const int seed = argc > 3 ? parse(argv[3], 0, INT32_MAX) : 1;
    if (argc > 4 || molecules < 0 || steps < 0 || seed < 0) {
        std::fprintf(stderr, "usage: %s [molecules 1..8192] [steps 1..100] [seed 0..2147483647]\n", argv[0]);
        return 2;
    }

    Water start = water(molecules, hash32(static_cast<uint32_t>(seed) + 0x9e3779b9u));
    const size_t bytes = molecules * sizeof(Molecule);
    Molecule* positions = device_array<Molecule>(molecules);
    Molecule* velocities = device_array<Molecule>(molecules);
    Molecule* device_forces = device_array<Molecule>(molecules);
    double* potentials = device_array<double>(molecules);
    double* kinetics = device_array<double>(molecules);
    Energies* device_energies = device_array<Energies>(steps);
    CUDA_CHECK(cudaMemcpy(positions, start.positions.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(velocities, start.velocities.data(), bytes, cudaMemcpyHostToDevice));

    const int blocks = (molecules + kBlock - 1) / kBlock;
    forces<<<blocks, kBlock>>>(positions, device_forces, potentials, molecules, start.box, start.cutoff2);
    CUDA_CHECK(cudaGetLastError());
    for (int step = 0; step < steps; ++step) {
        move<<<blocks, kBlock>>>(positions, velocities, device_forces, molecules);
        forces<<<blocks, kBlock>>>(positions, device_forces, potentials, molecules, start.box, start.cutoff2);
        turn<<<blocks, kBlock>>>(velocities, device_forces, kinetics, molecules);
        total<<<1, kAdders>>>(potentials, kinetics, device_energies + step, molecules);
        CUDA_CHECK(cudaGetLastError());
    }

    std::vector<Molecule> result(molecules);
    std::vector<Energies> energies(steps);
    CUDA_CHECK(cudaMemcpy(result.data(), positions, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(energies.data(), device_energies, steps * sizeof(Energies), cudaMemcpyDeviceToHost));
    for (Molecule* array : {positions, velocities, device_forces}) {
        CUDA_CHECK(cudaFree(array));
    }
    for (double* array : {potentials, kinetics}) {
        CUDA_CHECK(cudaFree(array));
    }
    CUDA_CHECK(cudaFree(device_energies));

    const std::vector<Energies> expected = reference(start, steps);
    bool pass = true;
    for (int i = 0; i < molecules; ++i) {
        for (int a = 0; a < kAtoms; ++a) {
            const Vector found = result[i].atoms[a], right = start.positions[i].atoms[a];
            pass = pass && close(found.x, right.x, start.box) && close(found.y, right.y, start.box) &&
                   close(found.z, right.z, start.box);
        }
    }
    for (int step = 0; step < steps; ++step) {
        const double scale = std::fabs(expected[step].potential) + expected[step].kinetic;
        pass = pass && close(energies[step].potential, expected[step].potential, scale) &&
               close(energies[step].kinetic, expected[step].kinetic, scale);
    }
    const Energies last = energies.back();
    std::printf("water %d molecules, %d steps, seed %d: potential %.3f and kinetic %.3f kcal/mol for each, "
                "checksum 0x%016llx, %s\n",
                molecules, steps, seed, last.potential / kKilocalorie / molecules,
                last.kinetic / kKilocalorie / molecules,
                static_cast<unsigned long long>(checksum(energies.data(), steps * sizeof(Energies),
                                                         checksum(result.data(), bytes))),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
