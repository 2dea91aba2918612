// A histogram of bytes with bins in shared memory, and the cumulative distribution that equalizes an image.

#include "check.h"

__global__ void histogram(const unsigned char* image, unsigned* bins, int n)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    const uchar4* quads = reinterpret_cast<const uchar4*>(image);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        uchar4 quad = quads[i];
        atomicAdd(&local[quad.x], 1u);
        atomicAdd(&local[quad.y], 1u);
        atomicAdd(&local[quad.z], 1u);
        atomicAdd(&local[quad.w], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

__global__ void equalize(unsigned char* image, const unsigned* bins, int n)
{
    __shared__ unsigned sums[256];
    sums[threadIdx.x] = bins[threadIdx.x];
    __syncthreads();
    for (int by = 1; by < 256; by *= 2) {
        unsigned before = threadIdx.x >= by ? sums[threadIdx.x - by] : 0;
        __syncthreads();
        sums[threadIdx.x] += before;
        __syncthreads();
    }
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        image[i] = static_cast<unsigned char>(sums[image[i]] * 255ull / n);
}

int main()
{
    const int n = 4096;
    std::vector<unsigned char> image(n);
    for (int i = 0; i < n; ++i) image[i] = static_cast<unsigned char>((i * i / 7 + i % 13) % 97 + 60);
    unsigned char* device = upload(image);
    unsigned* bins = nullptr;
    CHECK(cudaMalloc(&bins, 256 * sizeof(unsigned)));
    CHECK(cudaMemset(bins, 0, 256 * sizeof(unsigned)));
    histogram<<<3, 256>>>(device, bins, n);
    std::vector<unsigned> found = download(bins, 256), want(256);
    for (unsigned char value : image) ++want[value];
    expect("a histogram", found == want);
    equalize<<<2, 256>>>(device, bins, n);
    std::vector<unsigned char> result = download(device, n);
    for (int i = 1; i < 256; ++i) want[i] += want[i - 1];
    bool right = true;
    for (int i = 0; i < n; ++i) right &= result[i] == static_cast<unsigned char>(want[image[i]] * 255ull / n);
    expect("an equalized image", right);
    return verdict();
}
