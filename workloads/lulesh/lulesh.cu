// lulesh: a blast wave (Sedov's problem) by explicit Lagrangian hydrodynamics on a mesh of hexahedra.
//
// The mesh moves with the gas. Position and velocity belong to the nodes; mass, energy and pressure to the elements,
// which have eight nodes each and know them by indices alone. At the start all energy is in the element at the origin,
// an ideal gas everywhere else is cold; three faces of the cube are planes of symmetry, the others are free. A step:
//
//     corner_forces   per element: pressure and viscosity push a corner by the gradient of the volume by its position;
//                     a damping turns motion of the corners that has no part in strain (hourglasses) into heat
//     accelerate      per node: the sum of its corners over its mass, none across planes of symmetry
//     move            per node
//     kinematics      per element: the new volume; thickness and rate of stretch along each of its three axes
//     viscosity       per element: terms of an artificial viscosity for each axis that is compressed, limited where the
//                     flow is smooth, as the neighbours on that axis say
//     state           per element: the energy less the work done by the change of volume, predicted for the middle of
//                     the step and corrected; pressure and speed of sound
//     limit_step      per element, and the minimum of each block: how long a step may be
//     choose_step     one warp: the minimum of the blocks, and the clock
//
// An element's corners are numbered by their bits: x, y and z upward are 1, 2 and 4; faces by 2 axis + (1 if upward).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
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

constexpr int kWarp = 32;
constexpr int kBlock = 64;
constexpr int kCorners = 8, kFaces = 6;
constexpr int kMirror = -1, kOpen = -2;  // instead of a neighbour: a plane of symmetry, a free surface

constexpr double kGamma = 5.0 / 3.0;      // ratio of specific heats
constexpr double kDensity = 1.0;          // of the gas at the start
constexpr double kSide = 1.0;             // of the cube
constexpr double kBlast = 1.0;            // energy at the origin
constexpr double kLinear = 0.5;           // factor of the viscosity that grows with a jump of the velocity,
constexpr double kQuadratic = 2.0 / 3.0;  // and of that which grows with its square
constexpr double kDamping = 0.03;         // of hourglasses
constexpr double kCourant = 0.5;          // in a step a signal gets through this part of an element at most,
constexpr double kChange = 0.2;           // a volume changes by this part,
constexpr double kLonger = 1.2;           // and it is this much longer than the last one
constexpr double kForever = 1e20;

struct Vec {
    double x, y, z;
};

__host__ __device__ constexpr Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__host__ __device__ constexpr Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__host__ __device__ constexpr Vec operator*(double s, Vec a) { return {s * a.x, s * a.y, s * a.z}; }
__host__ __device__ constexpr double dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__host__ __device__ constexpr Vec cross(Vec a, Vec b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

using Corners = Vec[kCorners];  // something of each corner of an element

struct Clock {
    double time, step;
};

// What does not change. The corners of node n are corner_of[first_corner[n]] to corner_of[first_corner[n + 1] - 1].
struct Mesh {
    int elements, nodes;
    const int* corners;     // eight nodes of each element
    const int* neighbours;  // six elements of each element
    const int* first_corner;
    const int* corner_of;  // 8 element + corner
    const int* mirrors;    // of a node, a bit for each axis across which it must not move
    const double* element_mass;
    const double* node_mass;
};

struct Fields {
    Vec* position;  // of nodes
    Vec* velocity;
    Vec* force;    // of corners
    double* heat;  // of elements, per time: what the damping takes from the motion
    double* volume;
    double* growth;     // of the volume in the last step
    double* rate;       // relative growth per time
    double* length;     // least thickness
    double* thickness;  // three of each element
    double* stretch;    // three of each element: relative growth of the thickness per time
    double* linear;     // viscosity over speed of sound
    double* quadratic;  // viscosity
    double* energy;     // per mass
    double* pressure;
    double* viscosity;
    double* sound_speed;
    double* limits;  // of blocks
    Clock* clock;
};

// The corners around a face, anticlockwise if seen from outside.
__host__ __device__ constexpr int around(int face, int k) {
    const int axis = face / 2, upward = face % 2, turn = k % 4;
    const int early = turn == 1 || turn == 2, late = turn >= 2;
    return upward << axis | (upward ? early : late) << (axis + 1) % 3 | (upward ? late : early) << (axis + 2) % 3;
}

// Four patterns of signs that neither a translation nor a strain has a part in.
__host__ __device__ constexpr double hourglass(int mode, int corner) {
    const int bits = mode == 3 ? 7 : 7 ^ (1 << mode), odd = corner & bits;
    return ((odd ^ odd >> 1 ^ odd >> 2) & 1) != 0 ? -1.0 : 1.0;
}

__device__ void gather(const Vec* of_nodes, const int* corners, int element, Corners& result) {
#pragma unroll
    for (int c = 0; c < kCorners; ++c) {
        result[c] = of_nodes[corners[kCorners * element + c]];
    }
}

// The volume of an element, and its gradient by the position of each corner. A face, which need not be flat, stands for
// the average of its two divisions into triangles: the volume is a sum of triple products, linear in every corner.
__device__ double volume_of(const Corners& at, Corners& gradient) {
#pragma unroll
    for (int c = 0; c < kCorners; ++c) {
        gradient[c] = {0.0, 0.0, 0.0};
    }
#pragma unroll
    for (int face = 0; face < kFaces; ++face) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const Vec next = at[around(face, k + 1)], across = at[around(face, k + 2)], last = at[around(face, k + 3)];
            Vec& sum = gradient[around(face, k)];
            sum = sum + cross(next, across + last) + cross(across, last);
        }
    }
    double volume = 0.0;
#pragma unroll
    for (int c = 0; c < kCorners; ++c) {
        gradient[c] = (1.0 / 12.0) * gradient[c];
        volume += dot(at[c], gradient[c]);
    }
    return volume / 3.0;
}

__global__ void __launch_bounds__(kBlock)
corner_forces(Mesh mesh, Fields fields) {
    const int element = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (element >= mesh.elements) {
        return;
    }
    Corners at, gradient, velocity, force;
    gather(fields.position, mesh.corners, element, at);
    const double volume = volume_of(at, gradient);

    const double push = fields.pressure[element] + fields.viscosity[element];
#pragma unroll
    for (int c = 0; c < kCorners; ++c) {
        force[c] = push * gradient[c];
    }

    gather(fields.velocity, mesh.corners, element, velocity);
    const double damping =
        kDamping * fields.sound_speed[element] * mesh.element_mass[element] / fields.length[element];
    double heat = 0.0;
#pragma unroll
    for (int mode = 0; mode < 4; ++mode) {
        // The pattern of signs, less what a linear field of velocities would leave in it.
        Vec skew = {0.0, 0.0, 0.0};
#pragma unroll
        for (int c = 0; c < kCorners; ++c) {
            skew = skew + hourglass(mode, c) * at[c];
        }
        skew = (1.0 / volume) * skew;
        double shape[kCorners];
        Vec motion = {0.0, 0.0, 0.0};
#pragma unroll
        for (int c = 0; c < kCorners; ++c) {
            shape[c] = hourglass(mode, c) - dot(skew, gradient[c]);
            motion = motion + shape[c] * velocity[c];
        }
        heat += damping * dot(motion, motion);
        motion = damping * motion;
#pragma unroll
        for (int c = 0; c < kCorners; ++c) {
            force[c] = force[c] - shape[c] * motion;
        }
    }
    fields.heat[element] = heat;

#pragma unroll
    for (int c = 0; c < kCorners; ++c) {
        fields.force[kCorners * element + c] = force[c];
    }
}

__global__ void __launch_bounds__(kBlock)
accelerate(Mesh mesh, Fields fields) {
    const int node = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (node >= mesh.nodes) {
        return;
    }
    Vec force = {0.0, 0.0, 0.0};
    const int end = mesh.first_corner[node + 1];
    for (int i = mesh.first_corner[node]; i < end; ++i) {
        force = force + fields.force[mesh.corner_of[i]];
    }
    const double gain = fields.clock->step / mesh.node_mass[node];
    const int mirrors = mesh.mirrors[node];
    Vec velocity = fields.velocity[node];
    velocity.x = (mirrors & 1) != 0 ? 0.0 : velocity.x + gain * force.x;
    velocity.y = (mirrors & 2) != 0 ? 0.0 : velocity.y + gain * force.y;
    velocity.z = (mirrors & 4) != 0 ? 0.0 : velocity.z + gain * force.z;
    fields.velocity[node] = velocity;
}

__global__ void __launch_bounds__(kBlock)
move(Mesh mesh, Fields fields) {
    const int node = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (node < mesh.nodes) {
        fields.position[node] = fields.position[node] + fields.clock->step * fields.velocity[node];
    }
}

// The mean of the four edges along an axis.
__host__ __device__ Vec along(const Corners& of_corners, int axis) {
    Vec sum = {0.0, 0.0, 0.0};
#pragma unroll
    for (int c = 0; c < kCorners; ++c) {
        sum = (c >> axis & 1) != 0 ? sum + of_corners[c] : sum - of_corners[c];
    }
    return 0.25 * sum;
}

__global__ void __launch_bounds__(kBlock)
kinematics(Mesh mesh, Fields fields) {
    const int element = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (element >= mesh.elements) {
        return;
    }
    Corners at, gradient, velocity;
    gather(fields.position, mesh.corners, element, at);
    const double volume = volume_of(at, gradient);
    const double before = fields.volume[element];
    fields.volume[element] = volume;
    fields.growth[element] = volume - before;
    fields.rate[element] = 2.0 * (volume - before) / ((volume + before) * fields.clock->step);

    gather(fields.velocity, mesh.corners, element, velocity);
    const Vec edge[3] = {along(at, 0), along(at, 1), along(at, 2)};
    double length = kForever;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
        const Vec area = cross(edge[(axis + 1) % 3], edge[(axis + 2) % 3]);
        const double thickness = volume / sqrt(dot(area, area));
        fields.thickness[3 * element + axis] = thickness;
        fields.stretch[3 * element + axis] = dot(area, along(velocity, axis)) / volume;
        length = fmin(length, thickness);
    }
    fields.length[element] = length;
}

// How fast the neighbour across a face is stretched on the axis of the face.
__device__ double stretch_beyond(const Mesh& mesh, const Fields& fields, int element, int face) {
    const int neighbour = mesh.neighbours[kFaces * element + face];
    if (neighbour == kOpen) {
        return 0.0;
    }
    return fields.stretch[3 * (neighbour == kMirror ? element : neighbour) + face / 2];
}

__global__ void __launch_bounds__(kBlock)
viscosity(Mesh mesh, Fields fields) {
    const int element = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (element >= mesh.elements) {
        return;
    }
    double linear = 0.0, quadratic = 0.0;
    if (fields.growth[element] < 0.0) {
        for (int axis = 0; axis < 3; ++axis) {
            const double own = fields.stretch[3 * element + axis];
            if (own < 0.0) {
                // 1 where the neighbours are compressed alike, 0 where one of them is not compressed at all.
                const double lower = stretch_beyond(mesh, fields, element, 2 * axis) / own;
                const double upper = stretch_beyond(mesh, fields, element, 2 * axis + 1) / own;
                const double least = fmin(0.5 * (lower + upper), 2.0 * fmin(lower, upper));
                const double smooth = fmin(fmax(least, 0.0), 1.0);
                const double jump = own * fields.thickness[3 * element + axis];
                linear -= jump * (1.0 - smooth);
                quadratic += jump * jump * (1.0 - smooth * smooth);
            }
        }
    }
    const double density = mesh.element_mass[element] / fields.volume[element];
    fields.linear[element] = kLinear * density * linear;
    fields.quadratic[element] = kQuadratic * density * quadratic;
}

struct Gas {
    double pressure, sound_speed;
};

__device__ Gas gas_of(double energy, double density) {
    const double pressure = (kGamma - 1.0) * density * fmax(energy, 0.0);
    return {pressure, sqrt(kGamma * pressure / density)};
}

__global__ void __launch_bounds__(kBlock)
state(Mesh mesh, Fields fields) {
    const int element = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (element >= mesh.elements) {
        return;
    }
    const double mass = mesh.element_mass[element];
    const double volume = fields.volume[element], growth = fields.growth[element];
    const double linear = fields.linear[element], quadratic = fields.quadratic[element];
    const double start = fields.energy[element] + fields.clock->step * fields.heat[element] / mass;
    const double push = fields.pressure[element] + fields.viscosity[element];

    // The work per mass of a unit of pressure; what the middle of the step is like, from the old pressure; what the end
    // is like, from the middle; and the work once more by Simpson's rule.
    const double work = growth / mass;
    const Gas middle = gas_of(start - 0.5 * work * push, mass / (volume - 0.5 * growth));
    const double push_middle = middle.pressure + quadratic + linear * middle.sound_speed;
    const Gas end = gas_of(start - work * push_middle, mass / volume);
    const double push_end = end.pressure + quadratic + linear * end.sound_speed;
    const double energy = fmax(start - work * (push + 4.0 * push_middle + push_end) / 6.0, 0.0);

    const Gas gas = gas_of(energy, mass / volume);
    fields.energy[element] = energy;
    fields.pressure[element] = gas.pressure;
    fields.sound_speed[element] = gas.sound_speed;
    fields.viscosity[element] = quadratic + linear * gas.sound_speed;
}

__global__ void __launch_bounds__(kBlock)
limit_step(Mesh mesh, Fields fields) {
    __shared__ double least[kBlock];

    const int thread = static_cast<int>(threadIdx.x);
    const int element = static_cast<int>(blockIdx.x) * kBlock + thread;
    double limit = kForever;
    if (element < mesh.elements && fields.rate[element] != 0.0) {
        const double rate = fields.rate[element], length = fields.length[element];
        const double sound = fields.sound_speed[element], shock = rate < 0.0 ? 2.0 * length * rate : 0.0;
        limit = fmin(kChange / fabs(rate), kCourant * length / sqrt(sound * sound + shock * shock));
    }
    least[thread] = limit;
    for (int half = kBlock / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) {
            least[thread] = fmin(least[thread], least[thread + half]);
        }
    }
    if (thread == 0) {
        fields.limits[blockIdx.x] = least[0];
    }
}

// One warp.
__global__ void choose_step(Fields fields, int blocks) {
    double limit = kForever;
    for (int i = static_cast<int>(threadIdx.x); i < blocks; i += kWarp) {
        limit = fmin(limit, fields.limits[i]);
    }
    for (int distance = kWarp / 2; distance > 0; distance /= 2) {
        limit = fmin(limit, __shfl_down_sync(0xffffffffu, limit, distance));
    }
    if (threadIdx.x == 0) {
        const double step = fields.clock->step;
        fields.clock->time += step;
        fields.clock->step = fmin(limit, kLonger * step);
    }
}

// FNV-1a over bytes, from the sum of the bytes before.
static uint64_t checksum(const void* data, size_t bytes, uint64_t sum = 0xcbf29ce484222325ull) {
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

// The mesh and the fields on the host; of the latter, those that a start needs.
struct Problem {
    std::vector<int> corners, neighbours, first_corner, corner_of, mirrors;
    std::vector<double> element_mass, node_mass;
    std::vector<Vec> position, velocity;
    std::vector<double> volume, length, energy, pressure, sound_speed;
    Clock clock;
};

// A cube of n elements a side.
static Problem sedov(int n) {
    Problem p;
    const double width = kSide / n, volume = width * width * width;
    const auto node = [n](int x, int y, int z) { return (z * (n + 1) + y) * (n + 1) + x; };
    for (int i = 0; i < n * n * n; ++i) {
        const int at[3] = {i % n, i / n % n, i / n / n}, stride[3] = {1, n, n * n};
        for (int c = 0; c < kCorners; ++c) {
            p.corners.push_back(node(at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2)));
        }
        for (int axis = 0; axis < 3; ++axis) {
            p.neighbours.push_back(at[axis] > 0 ? i - stride[axis] : kMirror);
            p.neighbours.push_back(at[axis] < n - 1 ? i + stride[axis] : kOpen);
        }
    }
    const int elements = n * n * n, nodes = (n + 1) * (n + 1) * (n + 1);
    p.element_mass.assign(elements, kDensity * volume);
    p.volume.assign(elements, volume);
    p.length.assign(elements, width);
    for (std::vector<double>* field : {&p.energy, &p.pressure, &p.sound_speed}) {
        field->assign(elements, 0.0);
    }
    p.energy[0] = kBlast / p.element_mass[0];
    p.pressure[0] = (kGamma - 1.0) * kDensity * p.energy[0];
    p.sound_speed[0] = std::sqrt(kGamma * p.pressure[0] / kDensity);
    p.clock = {0.0, 0.25 * width / p.sound_speed[0]};

    std::vector<std::vector<int>> of_nodes(nodes);
    for (int i = 0; i < kCorners * elements; ++i) {
        of_nodes[p.corners[i]].push_back(i);
    }
    p.first_corner.push_back(0);
    for (int i = 0; i < nodes; ++i) {
        const int x = i % (n + 1), y = i / (n + 1) % (n + 1), z = i / (n + 1) / (n + 1);
        p.position.push_back({width * x, width * y, width * z});
        p.mirrors.push_back((x == 0 ? 1 : 0) | (y == 0 ? 2 : 0) | (z == 0 ? 4 : 0));
        p.node_mass.push_back(of_nodes[i].size() * kDensity * volume / kCorners);
        p.corner_of.insert(p.corner_of.end(), of_nodes[i].begin(), of_nodes[i].end());
        p.first_corner.push_back(static_cast<int>(p.corner_of.size()));
    }
    p.velocity.assign(nodes, {0.0, 0.0, 0.0});
    return p;
}

static double& component(Vec& v, int axis) { return axis == 0 ? v.x : (axis == 1 ? v.y : v.z); }

// The volume of an element by Gauss's rule over the determinant of its map from the cube, which is exact.
static double reference_volume(const Corners& at) {
    double volume = 0.0;
    for (int point = 0; point < 8; ++point) {
        Vec tangent[3] = {};
        for (int axis = 0; axis < 3; ++axis) {
            for (int c = 0; c < kCorners; ++c) {
                double weight = (c >> axis & 1) != 0 ? 1.0 : -1.0;
                for (int other = 0; other < 3; ++other) {
                    const double where = 0.5 + ((point >> other & 1) != 0 ? 0.5 : -0.5) / std::sqrt(3.0);
                    weight *= other == axis ? 1.0 : ((c >> other & 1) != 0 ? where : 1.0 - where);
                }
                tangent[axis] = tangent[axis] + weight * at[c];
            }
        }
        volume += dot(tangent[0], cross(tangent[1], tangent[2])) / 8.0;
    }
    return volume;
}

// All steps on the host: forces go from elements to nodes, gradients of the volume are differences of volumes, which
// are linear in each coordinate, and hourglasses are what is left of the velocities without their linear part.
struct Reference {
    Problem p;
    std::vector<double> viscous, stretch, thickness;

    explicit Reference(const Problem& start)
        : p(start), viscous(p.energy.size()), stretch(3 * p.energy.size()), thickness(3 * p.energy.size()) {}

    void corners_of(size_t e, const std::vector<Vec>& of_nodes, Corners& result) const {
        for (int c = 0; c < kCorners; ++c) {
            result[c] = of_nodes[p.corners[kCorners * e + c]];
        }
    }

    void push(size_t e, std::vector<Vec>& force) {
        Corners at, velocity, gradient;
        corners_of(e, p.position, at);
        corners_of(e, p.velocity, velocity);
        Vec rows[3] = {};  // the gradient of the velocity, times the volume
        for (int c = 0; c < kCorners; ++c) {
            for (int axis = 0; axis < 3; ++axis) {
                const double here = component(at[c], axis), reach = 0.5 * p.length[e];
                component(at[c], axis) = here + reach;
                const double more = reference_volume(at);
                component(at[c], axis) = here - reach;
                component(gradient[c], axis) = (more - reference_volume(at)) / (2.0 * reach);
                component(at[c], axis) = here;
            }
            for (int axis = 0; axis < 3; ++axis) {
                rows[axis] = rows[axis] + component(velocity[c], axis) * gradient[c];
            }
        }
        Corners total;
        for (int c = 0; c < kCorners; ++c) {
            total[c] = (p.pressure[e] + viscous[e]) * gradient[c];
        }
        const double damping = kDamping * p.sound_speed[e] * p.element_mass[e] / p.length[e];
        for (int mode = 0; mode < 4; ++mode) {
            Vec motion = {}, skew = {};
            for (int c = 0; c < kCorners; ++c) {
                const Vec linear = {dot(rows[0], at[c]), dot(rows[1], at[c]), dot(rows[2], at[c])};
                motion = motion + hourglass(mode, c) * (velocity[c] - (1.0 / p.volume[e]) * linear);
                skew = skew + hourglass(mode, c) * at[c];
            }
            for (int c = 0; c < kCorners; ++c) {
                const double shape = hourglass(mode, c) - dot(skew, gradient[c]) / p.volume[e];
                total[c] = total[c] - (damping * shape) * motion;
            }
            p.energy[e] += p.clock.step * damping * dot(motion, motion) / p.element_mass[e];
        }
        for (int c = 0; c < kCorners; ++c) {
            Vec& sum = force[p.corners[kCorners * e + c]];
            sum = sum + total[c];
        }
    }

    void measure(size_t e) {
        Corners at, velocity;
        corners_of(e, p.position, at);
        corners_of(e, p.velocity, velocity);
        p.volume[e] = reference_volume(at);
        p.length[e] = kForever;
        for (int axis = 0; axis < 3; ++axis) {
            const Vec area = cross(along(at, (axis + 1) % 3), along(at, (axis + 2) % 3));
            thickness[3 * e + axis] = p.volume[e] / std::sqrt(dot(area, area));
            stretch[3 * e + axis] = dot(area, along(velocity, axis)) / p.volume[e];
            p.length[e] = std::fmin(p.length[e], thickness[3 * e + axis]);
        }
    }

    // Sets the energy of an element and what follows from it; returns pressure and viscosity together.
    double settle(size_t e, double energy, double volume, double linear, double quadratic) {
        p.energy[e] = std::fmax(energy, 0.0);
        p.pressure[e] = (kGamma - 1.0) * p.element_mass[e] * p.energy[e] / volume;
        p.sound_speed[e] = std::sqrt(kGamma * (kGamma - 1.0) * p.energy[e]);
        viscous[e] = quadratic + linear * p.sound_speed[e];
        return p.pressure[e] + viscous[e];
    }

    // Returns how long the next step may be.
    double work(size_t e, double before) {
        const double after = p.volume[e], growth = after - before, mass = p.element_mass[e];
        double linear = 0.0, quadratic = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            const double own = stretch[3 * e + axis];
            if (growth >= 0.0 || own >= 0.0) {
                continue;
            }
            double ratio[2];
            for (int upward = 0; upward < 2; ++upward) {
                const int there = p.neighbours[kFaces * e + 2 * axis + upward];
                ratio[upward] = there >= 0 ? stretch[3 * there + axis] / own : (there == kMirror ? 1.0 : 0.0);
            }
            const double smooth =
                std::clamp(std::min({0.5 * (ratio[0] + ratio[1]), 2.0 * ratio[0], 2.0 * ratio[1]}), 0.0, 1.0);
            const double jump = own * thickness[3 * e + axis];
            linear -= kLinear * mass / after * jump * (1.0 - smooth);
            quadratic += kQuadratic * mass / after * jump * jump * (1.0 - smooth * smooth);
        }
        const double start = p.energy[e], first = p.pressure[e] + viscous[e];
        const double middle = settle(e, start - 0.5 * growth * first / mass, 0.5 * (before + after), linear, quadratic);
        const double last = settle(e, start - growth * middle / mass, after, linear, quadratic);
        settle(e, start - growth * (first + 4.0 * middle + last) / (6.0 * mass), after, linear, quadratic);

        const double rate = growth / (0.5 * (before + after)) / p.clock.step;
        const double signal = std::hypot(p.sound_speed[e], rate < 0.0 ? 2.0 * p.length[e] * rate : 0.0);
        return rate == 0.0 ? kForever : std::fmin(kChange / std::fabs(rate), kCourant * p.length[e] / signal);
    }

    void step() {
        std::vector<Vec> force(p.position.size());
        for (size_t e = 0; e < p.energy.size(); ++e) {
            push(e, force);
        }
        for (size_t n = 0; n < force.size(); ++n) {
            Vec& v = p.velocity[n];
            v = v + (p.clock.step / p.node_mass[n]) * force[n];
            for (int axis = 0; axis < 3; ++axis) {
                component(v, axis) *= (p.mirrors[n] >> axis & 1) != 0 ? 0.0 : 1.0;
            }
            p.position[n] = p.position[n] + p.clock.step * v;
        }
        const std::vector<double> before = p.volume;
        for (size_t e = 0; e < p.energy.size(); ++e) {
            measure(e);
        }
        double limit = kLonger * p.clock.step;
        for (size_t e = 0; e < p.energy.size(); ++e) {
            limit = std::fmin(limit, work(e, before[e]));
        }
        p.clock = {p.clock.time + p.clock.step, limit};
    }
};

// Internal and kinetic.
static double total_energy(const Problem& p) {
    double total = 0.0;
    for (size_t e = 0; e < p.energy.size(); ++e) {
        total += p.element_mass[e] * p.energy[e];
    }
    for (size_t n = 0; n < p.velocity.size(); ++n) {
        total += 0.5 * p.node_mass[n] * dot(p.velocity[n], p.velocity[n]);
    }
    return total;
}

template <typename T>
static T* device_array(size_t count) {
    T* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, count * sizeof(T)));
    return device;
}

template <typename T>
static T* device_copy(const std::vector<T>& host) {
    T* device = device_array<T>(host.size());
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
    const int side = argc > 1 ? parse(argv[1], 2, 64) : 6;
    const int steps = argc > 2 ? parse(argv[2], 1, 1000) : 12;
    if (argc > 3 || side < 0 || steps < 0) {
        std::fprintf(stderr, "usage: %s [elements along a side 2..64] [steps 1..1000]\n", argv[0]);
        return 2;
    }
    const Problem start = sedov(side);
    const int elements = static_cast<int>(start.energy.size()), nodes = static_cast<int>(start.position.size());
    const int element_blocks = (elements + kBlock - 1) / kBlock, node_blocks = (nodes + kBlock - 1) / kBlock;

    Mesh mesh;
    mesh.elements = elements;
    mesh.nodes = nodes;
    mesh.corners = device_copy(start.corners);
    mesh.neighbours = device_copy(start.neighbours);
    mesh.first_corner = device_copy(start.first_corner);
    mesh.corner_of = device_copy(start.corner_of);
    mesh.mirrors = device_copy(start.mirrors);
    mesh.element_mass = device_copy(start.element_mass);
    mesh.node_mass = device_copy(start.node_mass);
    Fields fields;
    fields.position = device_copy(start.position);
    fields.velocity = device_copy(start.velocity);
    fields.force = device_array<Vec>(kCorners * elements);
    fields.volume = device_copy(start.volume);
    fields.length = device_copy(start.length);
    fields.energy = device_copy(start.energy);
    fields.pressure = device_copy(start.pressure);
    fields.sound_speed = device_copy(start.sound_speed);
    fields.viscosity = device_copy(std::vector<double>(elements, 0.0));
    for (double** field : {&fields.heat, &fields.growth, &fields.rate, &fields.linear, &fields.quadratic}) {
        *field = device_array<double>(elements);
    }
    fields.thickness = device_array<double>(3 * elements);
    fields.stretch = device_array<double>(3 * elements);
    fields.limits = device_array<double>(element_blocks);
    fields.clock = device_copy(std::vector<Clock>{start.clock});

    for (int step = 0; step < steps; ++step) {
        corner_forces<<<element_blocks, kBlock>>>(mesh, fields);
        accelerate<<<node_blocks, kBlock>>>(mesh, fields);
        move<<<node_blocks, kBlock>>>(mesh, fields);
        kinematics<<<element_blocks, kBlock>>>(mesh, fields);
        viscosity<<<element_blocks, kBlock>>>(mesh, fields);
        state<<<element_blocks, kBlock>>>(mesh, fields);
        limit_step<<<element_blocks, kBlock>>>(mesh, fields);
        choose_step<<<1, kWarp>>>(fields, element_blocks);
        CUDA_CHECK(cudaGetLastError());
    }

    Problem end = start;
    const size_t node_bytes = nodes * sizeof(Vec), element_bytes = elements * sizeof(double);
    CUDA_CHECK(cudaMemcpy(&end.clock, fields.clock, sizeof(Clock), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(end.velocity.data(), fields.velocity, node_bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(end.position.data(), fields.position, node_bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(end.energy.data(), fields.energy, element_bytes, cudaMemcpyDeviceToHost));

    for (const void* array : std::initializer_list<const void*>{
             mesh.corners, mesh.neighbours, mesh.first_corner, mesh.corner_of, mesh.mirrors, mesh.element_mass,
             mesh.node_mass, fields.position, fields.velocity, fields.force, fields.heat, fields.volume, fields.growth,
             fields.rate, fields.length, fields.thickness, fields.stretch, fields.linear, fields.quadratic,
             fields.energy, fields.pressure, fields.viscosity, fields.sound_speed, fields.limits, fields.clock}) {
        CUDA_CHECK(cudaFree(const_cast<void*>(array)));
    }

    // The same as on the host, symmetric in the axes, and little energy lost or gained.
    Reference expected(start);
    for (int step = 0; step < steps; ++step) {
        expected.step();
    }
    const double origin = end.energy[0];
    const auto close = [](double a, double b, double scale) { return std::fabs(a - b) <= 1e-9 * scale; };
    bool pass = close(end.clock.time, expected.p.clock.time, end.clock.time);
    for (int e = 0; e < elements; ++e) {
        const int x = e % side, y = e / side % side, z = e / side / side;
        const double energy = end.energy[e];  // a NaN does not pass
        pass = pass && close(energy, expected.p.energy[e], origin) &&
               close(energy, end.energy[(z * side + x) * side + y], origin) &&
               close(energy, end.energy[(x * side + y) * side + z], origin);
    }
    for (int n = 0; n < nodes; ++n) {
        const Vec difference = end.position[n] - expected.p.position[n];
        pass = pass && std::sqrt(dot(difference, difference)) <= 1e-9 * kSide;
    }
    pass = pass && std::fabs(total_energy(end) / total_energy(start) - 1.0) <= 0.08;
    const uint64_t sum = checksum(end.energy.data(), element_bytes, checksum(end.position.data(), node_bytes));
    std::printf("lulesh %d elements, %d steps: time %.6f, energy at the origin %.6e, checksum 0x%016llx, %s\n",
                elements, steps, end.clock.time, origin, static_cast<unsigned long long>(sum), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
