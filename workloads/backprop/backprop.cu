// backprop: training steps of a perceptron with one hidden layer, by the propagation of errors backwards.
//
// The net has many input units, 16 hidden ones and one output; units are sigmoids of weighted sums. Unit 0 of the
// inputs is always 1, so its weights are the thresholds of the hidden units. Every step shows one pattern to the net:
//
//     forward   a block takes 16 input units and all hidden ones, multiplies each input by each weight and adds up by
//               a tree in shared memory
//     train     one block adds up the sums of the blocks, goes on to the output unit, computes the errors of output and
//               hidden units, and adjusts the weights between them
//     adjust    the weights between inputs and hidden units move against the error, and keep some of the direction of
//               the step before (momentum), one thread per weight
//
// Nothing but the pattern and its target goes to the device in a step, and nothing comes back before the end.

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

constexpr int kHidden = 16;        // hidden units, and columns of a block
constexpr int kRows = 16;          // input units of a block
constexpr double kRate = 0.3;      // of learning
constexpr double kMomentum = 0.3;  // share of the change before that is made again

__global__ void __launch_bounds__(kRows* kHidden)
forward(const float* __restrict__ inputs, const float* __restrict__ weights, float* __restrict__ partial, int units) {
    __shared__ float input[kRows];
    __shared__ float product[kRows][kHidden];

    const int hidden = static_cast<int>(threadIdx.x);
    const int y = static_cast<int>(threadIdx.y);
    const int unit = static_cast<int>(blockIdx.x) * kRows + y;
    if (hidden == 0) {
        input[y] = unit < units ? inputs[unit] : 0.0f;
    }
    __syncthreads();

    product[y][hidden] = unit < units ? input[y] * weights[unit * kHidden + hidden] : 0.0f;
    __syncthreads();

    for (int half = kRows / 2; half > 0; half /= 2) {
        if (y < half) {
            product[y][hidden] += product[y + half][hidden];
        }
        __syncthreads();
    }
    if (y == 0) {
        partial[static_cast<int>(blockIdx.x) * kHidden + hidden] = product[0][hidden];
    }
}

__device__ float squash(float x) { return 1.0f / (1.0f + expf(-x)); }

// The weight of the output's threshold is the last of `weights`.
__global__ void __launch_bounds__(kRows* kHidden)
train(const float* __restrict__ partial, float* __restrict__ weights, float* __restrict__ changes,
      float* __restrict__ errors, float* __restrict__ output, int blocks, float target, float rate, float momentum) {
    __shared__ float sum[kRows][kHidden];
    __shared__ float values[kHidden + 1];
    __shared__ float error;

    const int hidden = static_cast<int>(threadIdx.x);
    const int y = static_cast<int>(threadIdx.y);
    float own = 0.0f;
    for (int block = y; block < blocks; block += kRows) {
        own += partial[block * kHidden + hidden];
    }
    sum[y][hidden] = own;
    __syncthreads();

    for (int half = kRows / 2; half > 0; half /= 2) {
        if (y < half) {
            sum[y][hidden] += sum[y + half][hidden];
        }
        __syncthreads();
    }

    const int unit = y * kHidden + hidden;
    if (unit <= kHidden) {
        values[unit] = unit < kHidden ? squash(sum[0][unit]) : 1.0f;
    }
    __syncthreads();

    if (unit == 0) {
        float total = 0.0f;
        for (int h = 0; h <= kHidden; ++h) {
            total += weights[h] * values[h];
        }
        const float answer = squash(total);
        error = answer * (1.0f - answer) * (target - answer);
        *output = answer;
    }
    __syncthreads();

    if (unit < kHidden) {
        errors[unit] = values[unit] * (1.0f - values[unit]) * error * weights[unit];
    }
    if (unit <= kHidden) {
        const float change = rate * error * values[unit] + momentum * changes[unit];
        weights[unit] += change;
        changes[unit] = change;
    }
}

__global__ void __launch_bounds__(kRows* kHidden)
adjust(const float* __restrict__ inputs, const float* __restrict__ errors, float* __restrict__ weights,
       float* __restrict__ changes, int units, float rate, float momentum) {
    const int hidden = static_cast<int>(threadIdx.x);
    const int unit = static_cast<int>(blockIdx.x) * kRows + static_cast<int>(threadIdx.y);
    if (unit < units) {
        const int weight = unit * kHidden + hidden;
        const float change = rate * errors[hidden] * inputs[unit] + momentum * changes[weight];
        weights[weight] += change;
        changes[weight] = change;
    }
}

// A well-mixed 32-bit hash, and the same as a float in [-1, 1): the input is a function of the index alone.
static uint32_t hash32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

static float noise(uint32_t x) { return static_cast<float>(hash32(x) >> 8) * (1.0f / 8388608.0f) - 1.0f; }

// FNV-1a over bytes.
static uint64_t checksum(const void* data, size_t bytes) {
    uint64_t sum = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

// The pattern of a step.
static std::vector<float> pattern(int units, int step) {
    std::vector<float> values(units, 1.0f);
    for (int unit = 1; unit < units; ++unit) {
        values[unit] = noise(hash32(static_cast<uint32_t>(2 + step)) + static_cast<uint32_t>(unit));
    }
    return values;
}

// Every other pattern is one to recognize.
static double target_of(int step) { return step % 2 == 0 ? 0.9 : 0.1; }

static double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// Weights between inputs and hidden units, those between hidden units and output with that of the threshold last, and
// what the output was at every step.
template <typename T>
struct Net {
    std::vector<T> weights, top, outputs;
};

static Net<double> reference(const Net<float>& start, int units, int steps) {
    Net<double> net{{start.weights.begin(), start.weights.end()}, {start.top.begin(), start.top.end()}, {}};
    std::vector<double> changes(net.weights.size()), top_changes(net.top.size());
    for (int step = 0; step < steps; ++step) {
        const std::vector<float> inputs = pattern(units, step);
        double values[kHidden + 1] = {}, errors[kHidden];
        for (size_t i = 0; i < net.weights.size(); ++i) {
            values[i % kHidden] += inputs[i / kHidden] * net.weights[i];
        }
        double sum = 0.0;
        for (int h = 0; h <= kHidden; ++h) {
            values[h] = h < kHidden ? sigmoid(values[h]) : 1.0;
            sum += net.top[h] * values[h];
        }

        const double output = sigmoid(sum);
        const double error = output * (1.0 - output) * (target_of(step) - output);
        net.outputs.push_back(output);
        for (int h = 0; h < kHidden; ++h) {
            errors[h] = values[h] * (1.0 - values[h]) * error * net.top[h];
        }
        for (int h = 0; h <= kHidden; ++h) {
            top_changes[h] = kRate * error * values[h] + kMomentum * top_changes[h];
            net.top[h] += top_changes[h];
        }
        for (size_t i = 0; i < net.weights.size(); ++i) {
            changes[i] = kRate * errors[i % kHidden] * inputs[i / kHidden] + kMomentum * changes[i];
            net.weights[i] += changes[i];
        }
    }
    return net;
}

// The largest difference of an element; infinite if one is not a number.
static double furthest(const std::vector<float>& result, const std::vector<double>& expected) {
    double most = 0.0;
    for (size_t i = 0; i < result.size(); ++i) {
        const double difference = std::fabs(result[i] - expected[i]);
        most = std::isnan(difference) ? INFINITY : std::max(most, difference);
    }
    return most;
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

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int given = argc > 1 ? parse(argv[1], 1, 1 << 16) : 1000;
    const int steps = argc > 2 ? parse(argv[2], 1, 1000) : 3;
    if (argc > 3 || given < 0 || steps < 0) {
        std::fprintf(stderr, "usage: %s [inputs 1..65536] [steps 1..1000]\n", argv[0]);
        return 2;
    }

    const int units = given + 1;
    const int blocks = (units + kRows - 1) / kRows;
    Net<float> start{std::vector<float>(static_cast<size_t>(units) * kHidden), std::vector<float>(kHidden + 1), {}};
    for (size_t i = 0; i < start.weights.size(); ++i) {
        start.weights[i] = 0.1f * noise(static_cast<uint32_t>(i));
    }
    for (int h = 0; h <= kHidden; ++h) {
        start.top[h] = noise(hash32(1) + static_cast<uint32_t>(h));
    }

    float* weights = to_device(start.weights);
    float* top = to_device(start.top);
    float* device_inputs = nullptr;
    float* changes = nullptr;
    float* top_changes = nullptr;
    float* partial = nullptr;
    float* errors = nullptr;
    float* outputs = nullptr;
    const size_t bytes = start.weights.size() * sizeof(float);
    CUDA_CHECK(cudaMalloc(&device_inputs, units * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&changes, bytes));
    CUDA_CHECK(cudaMalloc(&top_changes, (kHidden + 1) * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&partial, static_cast<size_t>(blocks) * kHidden * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&errors, kHidden * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&outputs, steps * sizeof(float)));
    CUDA_CHECK(cudaMemset(changes, 0, bytes));
    CUDA_CHECK(cudaMemset(top_changes, 0, (kHidden + 1) * sizeof(float)));

    const dim3 block(kHidden, kRows);
    const float rate = static_cast<float>(kRate), momentum = static_cast<float>(kMomentum);
    for (int step = 0; step < steps; ++step) {
        const std::vector<float> inputs = pattern(units, step);
        const float target = static_cast<float>(target_of(step));
        CUDA_CHECK(cudaMemcpy(device_inputs, inputs.data(), units * sizeof(float), cudaMemcpyHostToDevice));
        forward<<<blocks, block>>>(device_inputs, weights, partial, units);
        CUDA_CHECK(cudaGetLastError());
        train<<<1, block>>>(partial, top, top_changes, errors, outputs + step, blocks, target, rate, momentum);
        CUDA_CHECK(cudaGetLastError());
        adjust<<<blocks, block>>>(device_inputs, errors, weights, changes, units, rate, momentum);
        CUDA_CHECK(cudaGetLastError());
    }

    Net<float> result;
    result.outputs = to_host(outputs, steps);
    result.top = to_host(top, start.top.size());
    result.weights = to_host(weights, start.weights.size());
    for (float* array : {weights, top, device_inputs, changes, top_changes, partial, errors, outputs}) {
        CUDA_CHECK(cudaFree(array));
    }

    // The weights of the inputs are of the order of 0.1, the others of 1, and every step rounds them.
    const Net<double> expected = reference(start, units, steps);
    const bool pass = furthest(result.weights, expected.weights) <= 2e-8 * steps &&
                      furthest(result.top, expected.top) <= 2e-7 * steps &&
                      furthest(result.outputs, expected.outputs) <= 1e-6 * steps;
    std::printf("backprop %d inputs, %d steps: last output %.4f, checksum 0x%016llx, %s\n", given, steps,
                result.outputs.back(), static_cast<unsigned long long>(checksum(result.weights.data(), bytes)),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
