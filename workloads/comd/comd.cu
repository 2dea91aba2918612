// comd: molecular dynamics, the atoms of a piece of copper under a Lennard-Jones potential, in a periodic box.
//
// A pair of atoms at a distance r below the cut-off has the energy
//
//     u(r) = 4 epsilon ((sigma / r)^12 - (sigma / r)^6) - u0
//
// with u0 such that it is zero at the cut-off. Time goes on by velocity Verlet: half of a step's change of the
// velocities, the positions, the forces there, and the other half. The box is divided into link cells no narrower than
// the cut-off, so that the partners of an atom are in the 27 cells around it; with two cells along a side the same cell
// is on either side, a period apart. Those that begin beyond the cut-off from an atom are passed over.
//
// In every step all atoms are put into their cells anew: they take slots by an atomic counter, and then each cell is
// sorted by the number of the atom, so that sums do not depend on the order of threads. The forces have a block for
// each cell and a thread for each of its slots; what else is done to atoms has a thread for each atom. One block adds
// up the energies after every step, in a fixed order.
//
// Units: angstrom, femtosecond, electronvolt, and what follows for the mass.

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

constexpr int kBlock = 128;
constexpr int kSlots = 64;    // atoms a cell has room for, and threads of its block
constexpr int kAdders = 256;  // threads that add up the energies

constexpr double kLattice = 3.615;  // the side of a unit cell of four atoms
constexpr double kSigma = 2.315, kEpsilon = 0.167, kCutoff = 2.5 * kSigma;
constexpr double kMass = 63.55 * 103.642697;  // from atomic mass units
constexpr double kBoltzmann = 8.617333e-5, kTemperature = 600.0;
constexpr double kStep = 2.0;           // femtoseconds
constexpr double kDisplacement = 0.15;  // of the atoms from their sites at the start, at most, along each axis

struct Vec {
    double x, y, z;
};

struct Box {
    double side;
    double width;  // of a cell
    int cells;     // along a side
    int unused;    // an argument of kernels: every byte of it is defined
};

struct Energies {
    double potential, kinetic;
};

__global__ void __launch_bounds__(kBlock)
kick(Vec* velocity, const Vec* __restrict__ force, double change, int atoms) {
    const int atom = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (atom >= atoms) {
        return;
    }
    velocity[atom].x += change * force[atom].x;
    velocity[atom].y += change * force[atom].y;
    velocity[atom].z += change * force[atom].z;
}

// Back into the box, from less than a side away.
__device__ double wrapped(double at, double side) {
    at = at < 0.0 ? at + side : at;
    return at >= side ? at - side : at;
}

__global__ void __launch_bounds__(kBlock)
drift(Vec* position, const Vec* __restrict__ velocity, double step, double side, int atoms) {
    const int atom = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (atom >= atoms) {
        return;
    }
    position[atom].x = wrapped(position[atom].x + step * velocity[atom].x, side);
    position[atom].y = wrapped(position[atom].y + step * velocity[atom].y, side);
    position[atom].z = wrapped(position[atom].z + step * velocity[atom].z, side);
}

// The counts are zero before.
__global__ void __launch_bounds__(kBlock)
assign(const Vec* __restrict__ position, Box box, int* counts, int* members, int atoms) {
    const int atom = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (atom >= atoms) {
        return;
    }
    const Vec at = position[atom];
    const int x = min(static_cast<int>(at.x / box.width), box.cells - 1);
    const int y = min(static_cast<int>(at.y / box.width), box.cells - 1);
    const int z = min(static_cast<int>(at.z / box.width), box.cells - 1);
    const int cell = (z * box.cells + y) * box.cells + x;
    const int slot = atomicAdd(&counts[cell], 1);
    if (slot < kSlots) {
        members[cell * kSlots + slot] = atom;
    }
}

// Sorts the atoms of each cell, and puts their positions next to each other.
__global__ void __launch_bounds__(kSlots)
sort_cells(const int* __restrict__ counts, int* members, const Vec* __restrict__ position, Vec* places) {
    __shared__ int unsorted[kSlots];

    const int slot = static_cast<int>(threadIdx.x);
    const int first = static_cast<int>(blockIdx.x) * kSlots;
    const int count = min(counts[blockIdx.x], kSlots);
    if (slot < count) {
        unsorted[slot] = members[first + slot];
    }
    __syncthreads();
    if (slot >= count) {
        return;
    }
    const int atom = unsorted[slot];
    int rank = 0;
    for (int i = 0; i < count; ++i) {
        rank += unsorted[i] < atom ? 1 : 0;
    }
    members[first + rank] = atom;
    places[first + rank] = position[atom];
}

// A neighbour of a cell along one axis, across the ends of the box if need be.
struct Beside {
    int cell;
    double at;   // the coordinate of an atom, moved by a side of the box if that brings it next to the neighbour
    double gap;  // square of the distance from the atom to the neighbour
};

__device__ Beside beside(int cell, int offset, double at, Box box) {
    const int there = cell + offset;
    const double face = (offset > 0 ? there : cell) * box.width;
    const double gap = offset == 0 ? 0.0 : (face - at) * (face - at);
    if (there < 0) {
        return {there + box.cells, at + box.side, gap};
    }
    return there < box.cells ? Beside{there, at, gap} : Beside{0, at - box.side, gap};
}

// What the atoms of a cell do to an atom, which may be one of them.
__device__ void add_pairs(const Vec* __restrict__ places, int count, Vec at, double at_cutoff, Vec* sum,
                          double* energy) {
    constexpr double kSigma2 = kSigma * kSigma;

    for (int i = 0; i < count; ++i) {
        const double dx = at.x - places[i].x, dy = at.y - places[i].y, dz = at.z - places[i].z;
        const double square = dx * dx + dy * dy + dz * dz;
        if (0.0 < square && square < kCutoff * kCutoff) {
            const double inverse = 1.0 / square;
            const double ratio = kSigma2 * inverse;
            const double attraction = ratio * ratio * ratio;
            const double pull = 24.0 * kEpsilon * inverse * attraction * (2.0 * attraction - 1.0);
            *energy += 4.0 * kEpsilon * attraction * (attraction - 1.0) - at_cutoff;
            sum->x += pull * dx;
            sum->y += pull * dy;
            sum->z += pull * dz;
        }
    }
}

// Each pair is met twice, once from either side: an atom has half of its energy.
__global__ void __launch_bounds__(kSlots)
forces(const int* __restrict__ counts, const int* __restrict__ members, const Vec* __restrict__ places, Box box,
       double at_cutoff, Vec* __restrict__ force, double* __restrict__ potential) {
    const int slot = static_cast<int>(threadIdx.x);
    const int cell = static_cast<int>(blockIdx.x);
    if (slot >= min(counts[cell], kSlots)) {
        return;
    }
    const int cell_x = cell % box.cells, cell_y = cell / box.cells % box.cells, cell_z = cell / box.cells / box.cells;
    const Vec own = places[cell * kSlots + slot];

    Vec sum = {0.0, 0.0, 0.0};
    double energy = 0.0;
    for (int dz = -1; dz <= 1; ++dz) {
        const Beside z = beside(cell_z, dz, own.z, box);
        for (int dy = -1; dy <= 1; ++dy) {
            const Beside y = beside(cell_y, dy, own.y, box);
            for (int dx = -1; dx <= 1; ++dx) {
                const Beside x = beside(cell_x, dx, own.x, box);
                if (x.gap + y.gap + z.gap < kCutoff * kCutoff) {
                    const int there = (z.cell * box.cells + y.cell) * box.cells + x.cell;
                    add_pairs(places + there * kSlots, min(counts[there], kSlots), {x.at, y.at, z.at}, at_cutoff,
                              &sum, &energy);
                }
            }
        }
    }

    const int atom = members[cell * kSlots + slot];
    force[atom] = sum;
    potential[atom] = 0.5 * energy;
}

// One block.
__global__ void __launch_bounds__(kAdders)
add_energies(const double* __restrict__ potential, const Vec* __restrict__ velocity, int atoms, Energies* result) {
    __shared__ Energies part[kAdders];

    const int thread = static_cast<int>(threadIdx.x);
    Energies own = {0.0, 0.0};
    for (int atom = thread; atom < atoms; atom += kAdders) {
        const Vec v = velocity[atom];
        own.potential += potential[atom];
        own.kinetic += 0.5 * kMass * (v.x * v.x + v.y * v.y + v.z * v.z);
    }
    part[thread] = own;
    for (int half = kAdders / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) {
            part[thread].potential += part[thread + half].potential;
            part[thread].kinetic += part[thread + half].kinetic;
        }
    }
    if (thread == 0) {
        *result = part[0];
    }
}

// A well-mixed 32-bit hash, and the same as a number in (0, 1): the input is a function of the index alone.
static uint32_t hash32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

static double noise(uint32_t x) { return (hash32(x) + 0.5) * (1.0 / 4294967296.0); }

// FNV-1a over bytes, from the sum of the bytes before.
static uint64_t checksum(const void* data, size_t bytes, uint64_t sum = 0xcbf29ce484222325ull) {
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

struct Atoms {
    std::vector<Vec> position, velocity;
};

// A cube of face-centred unit cells. The first sites are on the faces of the box, so that atoms cross them.
static Atoms copper(int units, double side) {
    Atoms atoms;
    Vec sum = {0.0, 0.0, 0.0};
    for (int i = 0; i < 4 * units * units * units; ++i) {
        const int unit = i / 4, corner = i % 4;
        const auto site = [&](int index, bool middle, int key) {
            const double at = kLattice * (index + (middle ? 0.5 : 0.0)) + kDisplacement * (2.0 * noise(key) - 1.0);
            return at < 0.0 ? at + side : at;
        };
        // Rounded to single precision: the last bits of a logarithm and a cosine depend on the processor of the host.
        const auto normal = [](int key) -> double {
            return static_cast<float>(std::sqrt(-2.0 * std::log(noise(key))) * std::cos(2.0 * M_PI * noise(key + 1)));
        };
        atoms.position.push_back({site(unit % units, corner == 1 || corner == 2, 9 * i),
                                  site(unit / units % units, corner == 2 || corner == 3, 9 * i + 1),
                                  site(unit / units / units, corner == 3 || corner == 1, 9 * i + 2)});
        atoms.velocity.push_back({normal(9 * i + 3), normal(9 * i + 5), normal(9 * i + 7)});
        const Vec& v = atoms.velocity.back();
        sum = {sum.x + v.x, sum.y + v.y, sum.z + v.z};
    }

    // No drift of the whole, and exactly the temperature wanted.
    const double count = static_cast<double>(atoms.velocity.size());
    double squares = 0.0;
    for (Vec& v : atoms.velocity) {
        v = {v.x - sum.x / count, v.y - sum.y / count, v.z - sum.z / count};
        squares += v.x * v.x + v.y * v.y + v.z * v.z;
    }
    const double scale = std::sqrt(3.0 * count * kBoltzmann * kTemperature / kMass / squares);
    for (Vec& v : atoms.velocity) {
        v = {v.x * scale, v.y * scale, v.z * scale};
    }
    return atoms;
}

static double pair_energy(double r) {
    return 4.0 * kEpsilon * (std::pow(kSigma / r, 12.0) - std::pow(kSigma / r, 6.0));
}

// The nearest image of a difference of coordinates.
static double nearest(double difference, double side) { return difference - side * std::round(difference / side); }

// All pairs, without cells.
static double reference_forces(const std::vector<Vec>& position, double side, std::vector<Vec>& force) {
    double potential = 0.0;
    std::fill(force.begin(), force.end(), Vec{0.0, 0.0, 0.0});
    for (size_t a = 0; a < position.size(); ++a) {
        for (size_t b = 0; b < a; ++b) {
            const double d[3] = {nearest(position[a].x - position[b].x, side),
                                 nearest(position[a].y - position[b].y, side),
                                 nearest(position[a].z - position[b].z, side)};
            const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            if (r < kCutoff) {
                potential += pair_energy(r) - pair_energy(kCutoff);
                const double slope =
                    4.0 * kEpsilon / r * (12.0 * std::pow(kSigma / r, 12.0) - 6.0 * std::pow(kSigma / r, 6.0));
                force[a].x += slope * d[0] / r, force[b].x -= slope * d[0] / r;
                force[a].y += slope * d[1] / r, force[b].y -= slope * d[1] / r;
                force[a].z += slope * d[2] / r, force[b].z -= slope * d[2] / r;
            }
        }
    }
    return potential;
}

// Velocity Verlet with whole steps; the positions are not put back into the box.
static std::vector<Energies> reference(Atoms& atoms, double side, int steps) {
    std::vector<Energies> energies;
    std::vector<Vec> before(atoms.position.size()), after(before);
    double potential = reference_forces(atoms.position, side, after);
    for (int step = 0; step <= steps; ++step) {
        double kinetic = 0.0;
        for (const Vec& v : atoms.velocity) {
            kinetic += 0.5 * kMass * (v.x * v.x + v.y * v.y + v.z * v.z);
        }
        energies.push_back({potential, kinetic});
        if (step == steps) {
            break;
        }
        before = after;
        const auto move = [](double v, double f) { return kStep * v + 0.5 * kStep * kStep * f / kMass; };
        for (size_t i = 0; i < before.size(); ++i) {
            const Vec v = atoms.velocity[i], f = before[i];
            Vec& at = atoms.position[i];
            at = {at.x + move(v.x, f.x), at.y + move(v.y, f.y), at.z + move(v.z, f.z)};
        }
        potential = reference_forces(atoms.position, side, after);
        for (size_t i = 0; i < before.size(); ++i) {
            const Vec f = before[i], g = after[i];
            const double half = 0.5 * kStep / kMass;
            Vec& v = atoms.velocity[i];
            v = {v.x + half * (f.x + g.x), v.y + half * (f.y + g.y), v.z + half * (f.z + g.z)};
        }
    }
    return energies;
}

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
    const int units = argc > 1 ? parse(argv[1], 4, 20) : 4;
    const int steps = argc > 2 ? parse(argv[2], 1, 200) : 2;
    if (argc > 3 || units < 0 || steps < 0) {
        std::fprintf(stderr, "usage: %s [unit cells along a side 4..20] [steps 1..200]\n", argv[0]);
        return 2;
    }
    Box box = {units * kLattice, 0.0, static_cast<int>(units * kLattice / kCutoff), 0};
    box.width = box.side / box.cells;
    const int cells = box.cells * box.cells * box.cells;
    Atoms host = copper(units, box.side);
    const int atoms = static_cast<int>(host.position.size());

    const size_t bytes = atoms * sizeof(Vec);
    Vec* position = device_array<Vec>(atoms);
    Vec* velocity = device_array<Vec>(atoms);
    Vec* force = device_array<Vec>(atoms);
    double* potential = device_array<double>(atoms);
    int* counts = device_array<int>(cells);
    int* members = device_array<int>(cells * kSlots);
    Vec* places = device_array<Vec>(cells * kSlots);
    Energies* device_energies = device_array<Energies>(steps + 1);
    CUDA_CHECK(cudaMemcpy(position, host.position.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(velocity, host.velocity.data(), bytes, cudaMemcpyHostToDevice));

    const int blocks = (atoms + kBlock - 1) / kBlock;
    for (int step = 0; step <= steps; ++step) {
        if (step > 0) {
            kick<<<blocks, kBlock>>>(velocity, force, 0.5 * kStep / kMass, atoms);
            drift<<<blocks, kBlock>>>(position, velocity, kStep, box.side, atoms);
        }
        CUDA_CHECK(cudaMemset(counts, 0, cells * sizeof(int)));
        assign<<<blocks, kBlock>>>(position, box, counts, members, atoms);
        sort_cells<<<cells, kSlots>>>(counts, members, position, places);
        forces<<<cells, kSlots>>>(counts, members, places, box, pair_energy(kCutoff), force, potential);
        if (step > 0) {
            kick<<<blocks, kBlock>>>(velocity, force, 0.5 * kStep / kMass, atoms);
        }
        add_energies<<<1, kAdders>>>(potential, velocity, atoms, device_energies + step);
        CUDA_CHECK(cudaGetLastError());
    }

    std::vector<Vec> result(atoms);
    std::vector<Energies> energies(steps + 1);
    CUDA_CHECK(cudaMemcpy(result.data(), position, bytes, cudaMemcpyDeviceToHost));
    const size_t energy_bytes = energies.size() * sizeof(Energies);
    CUDA_CHECK(cudaMemcpy(energies.data(), device_energies, energy_bytes, cudaMemcpyDeviceToHost));
    for (Vec* array : {position, velocity, force, places}) {
        CUDA_CHECK(cudaFree(array));
    }
    for (int* array : {counts, members}) {
        CUDA_CHECK(cudaFree(array));
    }
    CUDA_CHECK(cudaFree(potential));
    CUDA_CHECK(cudaFree(device_energies));

    const double start = energies[0].potential + energies[0].kinetic;
    const std::vector<Energies> expected = reference(host, box.side, steps);
    const auto close = [](double a, double b) { return std::fabs(a - b) <= 1e-9 * std::fabs(b); };
    double drifted = 0.0;
    bool pass = true;
    for (int step = 0; step <= steps; ++step) {
        const Energies& e = energies[step];
        drifted = std::fmax(drifted, std::fabs((e.potential + e.kinetic) / start - 1.0));
        pass = pass && close(e.potential, expected[step].potential) && close(e.kinetic, expected[step].kinetic);
    }
    for (int atom = 0; atom < atoms; ++atom) {
        const double at[3] = {result[atom].x, result[atom].y, result[atom].z};
        const double wanted[3] = {host.position[atom].x, host.position[atom].y, host.position[atom].z};
        for (int axis = 0; axis < 3; ++axis) {
            pass = pass && 0.0 <= at[axis] && at[axis] < box.side &&
                   std::fabs(nearest(at[axis] - wanted[axis], box.side)) <= 1e-9;  // a NaN does not pass
        }
    }
    pass = pass && drifted <= 1e-3;
    const uint64_t sum = checksum(energies.data(), energy_bytes, checksum(result.data(), bytes));
    std::printf("comd %d atoms, %d steps: energy %.9f eV an atom, conserved to %.1e, checksum 0x%016llx, %s\n", atoms,
                steps, start / atoms, drifted, static_cast<unsigned long long>(sum), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
