// What kernels need, what they may have, and how many blocks of them fit.

#include "check.h"

__global__ void __launch_bounds__(256) bounded(int* out)
{
    __shared__ int values[512];
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}

__global__ void large(int* out, int n)
{
    extern __shared__ int buffer[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) buffer[i] = i * 3;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = buffer[n - 1 - i];
}

int main()
{
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, bounded));
    expect("static shared memory", attributes.sharedSizeBytes == 2048);
    expect("threads of a block", attributes.maxThreadsPerBlock == 256);
    expect("registers", attributes.numRegs > 0 && attributes.numRegs <= 255);

    int blocks = 0, small = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 256, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&small, bounded, 256, 40 << 10));
    expect("shared memory limits the blocks", blocks > small && small >= 1);
    int grid = 0, block = 0;
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, large, 0, 0));
    expect("a size of block", block >= 32 && block <= 1024 && block % 32 == 0 && grid > 0);

    const int n = 20000, bytes = n * sizeof(int);
    int* out = nullptr;
    CHECK(cudaMalloc(&out, bytes));
    large<<<1, 256, bytes>>>(out, n);
    expect("too much shared memory", cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    large<<<1, 256, bytes>>>(out, n);
    CHECK(cudaGetLastError());
    std::vector<int> found = download(out, n);
    bool right = true;
    for (int i = 0; i < n; ++i) right &= found[i] == (n - 1 - i) * 3;
    expect("as much as was asked for", right);
    CHECK(cudaFuncGetAttributes(&attributes, large));
    expect("which is an attribute now", attributes.maxDynamicSharedSizeBytes == bytes);
    bounded<<<1, 512>>>(out);
    expect("more threads than bounds allow", cudaGetLastError() == cudaErrorInvalidValue);
    bounded<<<1, 256>>>(out);
    expect("as many as they allow", download(out, 256)[0] == 255);
    CHECK(cudaFuncSetCacheConfig(bounded, cudaFuncCachePreferShared));
    return verdict();
}
