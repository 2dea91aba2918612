// What applications use: templates, static and dynamic shared memory, integer, float and double arithmetic, shuffles,
// votes, integer atomics, constant memory and symbol copies, streams, events, pitched copies, device properties.
// Every result is checked on the host, so the program says itself whether it ran correctly.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                            \
    do {                                                                                       \
        cudaError_t error = (call);                                                            \
        if (error != cudaSuccess) {                                                            \
            std::printf("%s:%d %s: %s\n", "features.cu", __LINE__, #call, cudaGetErrorString(error)); \
            std::exit(1);                                                                      \
        }                                                                                      \
    } while (0)

static int failures = 0;

static void expect(const char* what, bool holds)
{
    std::printf("%-28s %s\n", what, holds ? "ok" : "WRONG");
    failures += holds ? 0 : 1;
}

__constant__ int weights[8];
__device__ unsigned long long total;
__device__ int table[4] = {3, 1, 4, 1};

template <typename T, int Block>
__global__ void block_sums(const T* in, T* out, int n)
{
    __shared__ T partial[Block];
    T sum = 0;
    for (int i = blockIdx.x * Block + threadIdx.x; i < n; i += gridDim.x * Block)
        sum += in[i] * static_cast<T>(weights[i & 7]);
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int step = Block / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

__global__ void reverse_blocks(int* data)
{
    extern __shared__ int buffer[];
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    buffer[threadIdx.x] = data[at];
    __syncthreads();
    data[at] = buffer[blockDim.x - 1 - threadIdx.x];
}

__global__ void lanes(const int* in, int* scanned, unsigned* odd, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = i < n ? in[i] : 0;
    int lane = threadIdx.x & 31;
    for (int by = 1; by < 32; by *= 2) {
        int before = __shfl_up_sync(0xffffffffu, value, by);
        if (lane >= by) value += before;
    }
    unsigned ballot = __ballot_sync(0xffffffffu, value & 1);
    if (i < n) scanned[i] = value;
    if (lane == 0 && i < n) odd[i / 32] = ballot;
}

__global__ void count(const int* in, int* histogram, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&histogram[in[i] & 15], 1);
    atomicMax(&histogram[16], in[i]);
    atomicMin(&histogram[17], in[i]);
    atomicAdd(&total, static_cast<unsigned long long>(in[i]));
}

__device__ __noinline__ double horner(double x, int degree)
{
    double value = 0;
    for (int i = degree; i >= 0; --i) value = value * x + 1.0 / (i + 1);
    return value;
}

__global__ void polynomial(const double* in, double* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sqrt(fabs(horner(in[i], 3 + table[i & 3]))) / (1.0 + in[i] * in[i]);
}

__global__ void transpose(const float* in, float* out, int width, int height, size_t pitch)
{
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * (pitch / sizeof(float)) + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

template <typename T>
static T* upload(const std::vector<T>& host)
{
    T* device = nullptr;
    CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static std::vector<T> download(const T* device, size_t n)
{
    std::vector<T> host(n);
    CHECK(cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

template <typename T>
static void sums(const char* what, const std::vector<T>& data, const int* factors)
{
    T* in = upload(data);
    T* out = upload(std::vector<T>(5));
    block_sums<T, 128><<<5, 128>>>(in, out, static_cast<int>(data.size()));
    CHECK(cudaGetLastError());
    T found = 0, expected = 0;
    for (T part : download(out, 5)) found += part;
    for (size_t i = 0; i < data.size(); ++i) expected += data[i] * static_cast<T>(factors[i & 7]);
    expect(what, found == expected);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
}

int main()
{
    const int n = 1000;
    const int factors[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    CHECK(cudaMemcpyToSymbol(weights, factors, sizeof factors));
    std::vector<int> numbers(n);
    for (int i = 0; i < n; ++i) numbers[i] = (i * 7919 + 13) % 4093;

    sums<int>("sums of int", numbers, factors);
    sums<float>("sums of float", std::vector<float>(numbers.begin(), numbers.begin() + 300), factors);
    sums<double>("sums of double", std::vector<double>(numbers.begin(), numbers.end()), factors);
    sums<long long>("sums of long long", std::vector<long long>(numbers.begin(), numbers.end()), factors);

    int* device = upload(numbers);
    reverse_blocks<<<10, 100, 100 * sizeof(int)>>>(device);
    std::vector<int> reversed = download(device, n);
    bool right = true;
    for (int i = 0; i < n; ++i) right &= reversed[i] == numbers[i / 100 * 100 + 99 - i % 100];
    expect("dynamic shared memory", right);

    CHECK(cudaMemcpy(device, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    int* scanned = upload(std::vector<int>(n));
    unsigned* odd = upload(std::vector<unsigned>((n + 31) / 32));
    lanes<<<(n + 63) / 64, 64>>>(device, scanned, odd, n);
    std::vector<int> prefix = download(scanned, n);
    std::vector<unsigned> ballots = download(odd, (n + 31) / 32);
    right = true;
    for (int i = 0, sum = 0; i < n; ++i) {
        sum = (i % 32 ? sum : 0) + numbers[i];
        right &= prefix[i] == sum && ((ballots[i / 32] >> (i % 32)) & 1) == static_cast<unsigned>(sum & 1);
    }
    expect("shuffles and votes", right);

    cudaStream_t stream;
    cudaEvent_t done;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&done));
    std::vector<int> start(18);
    start[17] = 1 << 30;
    int* histogram = upload(start);
    count<<<(n + 255) / 256, 256, 0, stream>>>(device, histogram, n);
    CHECK(cudaEventRecord(done, stream));
    CHECK(cudaEventSynchronize(done));
    std::vector<int> bins(18);
    CHECK(cudaMemcpyAsync(bins.data(), histogram, 18 * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    unsigned long long found = 0, sum = 0;
    CHECK(cudaMemcpyFromSymbol(&found, total, sizeof found));
    int expected[18] = {0};
    expected[17] = 1 << 30;
    for (int value : numbers) {
        ++expected[value & 15];
        expected[16] = value > expected[16] ? value : expected[16];
        expected[17] = value < expected[17] ? value : expected[17];
        sum += static_cast<unsigned long long>(value);
    }
    right = found == sum;
    for (int i = 0; i < 18; ++i) right &= bins[i] == expected[i];
    expect("atomics, streams and events", right);

    std::vector<double> points(n);
    for (int i = 0; i < n; ++i) points[i] = (numbers[i] - 2000) / 1000.0;
    double* xs = upload(points);
    double* ys = upload(std::vector<double>(n));
    polynomial<<<8, 128>>>(xs, ys, n);
    std::vector<double> values = download(ys, n);
    const int degrees[4] = {3, 1, 4, 1};
    double worst = 0;
    for (int i = 0; i < n; ++i) {
        double p = 0;
        for (int k = 3 + degrees[i & 3]; k >= 0; --k) p = p * points[i] + 1.0 / (k + 1);
        double want = std::sqrt(std::fabs(p)) / (1.0 + points[i] * points[i]);
        worst = std::fmax(worst, std::fabs(values[i] - want) / want);
    }
    expect("doubles in a called function", worst < 1e-12);

    const int width = 50, height = 37;
    std::vector<float> image(width * height);
    for (int i = 0; i < width * height; ++i) image[i] = static_cast<float>(i) * 0.5f;
    float* pitched = nullptr;
    size_t pitch = 0;
    CHECK(cudaMallocPitch(&pitched, &pitch, width * sizeof(float), height));
    CHECK(cudaMemcpy2D(pitched, pitch, image.data(), width * sizeof(float), width * sizeof(float), height,
                       cudaMemcpyHostToDevice));
    float* turned = upload(std::vector<float>(width * height));
    transpose<<<dim3(4, 3), dim3(16, 16)>>>(pitched, turned, width, height, pitch);
    std::vector<float> result = download(turned, width * height);
    right = true;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) right &= result[x * height + y] == image[y * width + x];
    expect("pitched copies, 2-D blocks", right);

    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    int threads = 0;
    CHECK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, 0));
    expect("device properties", properties.warpSize == 32 && threads == properties.maxThreadsPerBlock);

    reverse_blocks<<<1, 2000>>>(device);
    expect("a launch that is refused", cudaGetLastError() != cudaSuccess && cudaGetLastError() == cudaSuccess);
    CHECK(cudaDeviceSynchronize());
    std::printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
