// mm3: three products of matrices, E = A B, F = C D and G = E F.
//
//     A is ni x nk, B is nk x nj, C is nj x nm, D is nm x nl, so E is ni x nj, F is nj x nl and G is ni x nl
//
// One kernel per product, one thread per element. Sums grow in global memory, term by term: a pointer without
// `__restrict__` may alias the others, so the compiler stores every partial sum. E, F and G are zero before the
// launches.

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

constexpr int kTileX = 16, kTileY = 8;  // columns and rows of a block

__global__ void __launch_bounds__(kTileX* kTileY)
mm3_kernel1(const float* A, const float* B, float* E, int ni, int nj, int nk) {
    const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int i = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (i < ni && j < nj) {
        for (int k = 0; k < nk; ++k) {
            E[i * nj + j] += A[i * nk + k] * B[k * nj + j];
        }
    }
}

__global__ void __launch_bounds__(kTileX* kTileY)
mm3_kernel2(const float* C, const float* D, float* F, int nj, int nl, int nm) {
    const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int i = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (i < nj && j < nl) {
        for (int k = 0; k < nm; ++k) {
            F[i * nl + j] += C[i * nm + k] * D[k * nl + j];
        }
    }
}

__global__ void __launch_bounds__(kTileX* kTileY)
mm3_kernel3(const float* E, const float* F, float* G, int ni, int nl, int nj) {
    const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int i = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (i < ni && j < nl) {
        for (int k = 0; k < nj; ++k) {
            G[i * nl + j] += E[i * nj + k] * F[k * nl + j];
        }
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

// `seed` makes one array differ from the next.
static std::vector<float> random_array(size_t count, uint32_t seed) {
    std::vector<float> array(count);
    for (size_t i = 0; i < count; ++i) {
        array[i] = noise(hash32(seed) + static_cast<uint32_t>(i));
    }
    return array;
}

template <typename T>
static T* to_device(const std::vector<T>& host) {
    T* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static float* zeros(size_t count) {
    float* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, count * sizeof(float)));
    CUDA_CHECK(cudaMemset(device, 0, count * sizeof(float)));
    return device;
}

template <typename T>
static std::vector<T> to_host(const T* device, size_t count) {
    std::vector<T> host(count);
    CUDA_CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

static dim3 grid_of(int rows, int cols) { return dim3((cols + kTileX - 1) / kTileX, (rows + kTileY - 1) / kTileY); }

template <typename Left, typename Right>
static std::vector<double> product(const std::vector<Left>& left, const std::vector<Right>& right, int rows, int cols,
                                   int inner) {
    std::vector<double> result(static_cast<size_t>(rows) * cols);
    for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < inner; ++k) {
            for (int j = 0; j < cols; ++j) {
                result[i * cols + j] += static_cast<double>(left[i * inner + k]) * right[k * cols + j];
            }
        }
    }
    return result;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    int sizes[] = {40, 36, 32, 28, 44};  // ni, nj, nk, nl, nm
    bool usable = argc == 1 || argc == 6;
    for (int i = 1; usable && i < argc; ++i) {
        sizes[i - 1] = parse(argv[i], 1, 1024);
        usable = sizes[i - 1] > 0;
    }
    if (!usable) {
        std::fprintf(stderr, "usage: %s [ni nj nk nl nm, each 1..1024]\n", argv[0]);
        return 2;
    }
    const auto [ni, nj, nk, nl, nm] = sizes;

    const std::vector<float> host_a = random_array(static_cast<size_t>(ni) * nk, 1);
    const std::vector<float> host_b = random_array(static_cast<size_t>(nk) * nj, 2);
    const std::vector<float> host_c = random_array(static_cast<size_t>(nj) * nm, 3);
    const std::vector<float> host_d = random_array(static_cast<size_t>(nm) * nl, 4);
    const size_t elements = static_cast<size_t>(ni) * nl;
    float* A = to_device(host_a);
    float* B = to_device(host_b);
    float* C = to_device(host_c);
    float* D = to_device(host_d);
    float* E = zeros(static_cast<size_t>(ni) * nj);
    float* F = zeros(static_cast<size_t>(nj) * nl);
    float* G = zeros(elements);

    const dim3 block(kTileX, kTileY);
    mm3_kernel1<<<grid_of(ni, nj), block>>>(A, B, E, ni, nj, nk);
    CUDA_CHECK(cudaGetLastError());
    mm3_kernel2<<<grid_of(nj, nl), block>>>(C, D, F, nj, nl, nm);
    CUDA_CHECK(cudaGetLastError());
    mm3_kernel3<<<grid_of(ni, nl), block>>>(E, F, G, ni, nl, nj);
    CUDA_CHECK(cudaGetLastError());

    const std::vector<float> result = to_host(G, elements);
    for (float* array : {A, B, C, D, E, F, G}) {
        CUDA_CHECK(cudaFree(array));
    }

    // All terms are positive, so a sum is its own magnitude.
    const std::vector<double> expected =
        product(product(host_a, host_b, ni, nj, nk), product(host_c, host_d, nj, nl, nm), ni, nl, nj);
    bool pass = true;
    for (size_t i = 0; i < elements; ++i) {
        pass = pass && std::fabs(result[i] - expected[i]) <= 1e-5 * expected[i];  // a NaN does not pass
    }
    std::printf("mm3 (%dx%d %dx%d) (%dx%d %dx%d): checksum 0x%016llx, %s\n", ni, nk, nk, nj, nj, nm, nm, nl,
                static_cast<unsigned long long>(checksum(result.data(), elements * sizeof(float))),
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
