// Memory in the order of a stream: pools, what they hold, what they keep.

#include "check.h"

__global__ void fill(unsigned* data, int n, unsigned seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = (i ^ seed) * 2654435761u;
}

__global__ void fold(const unsigned* data, int n, unsigned* out)
{
    unsigned value = 0;
    for (int i = threadIdx.x; i < n; i += 32) value ^= data[i];
    for (int step = 16; step; step /= 2) value ^= __shfl_xor_sync(0xffffffffu, value, step);
    if (threadIdx.x == 0) *out = value;
}

int main()
{
    const int n = 2000;
    cudaMemPool_t pool;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long threshold = 1 << 20, kept = 0;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
    expect("a threshold", kept == threshold);

    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    bool right = true;
    for (unsigned seed = 1; seed <= 3; ++seed) {
        unsigned *data = nullptr, *out = nullptr, found = 0, want = 0;
        CHECK(cudaMallocAsync(&data, n * sizeof(unsigned), stream));
        CHECK(cudaMallocFromPoolAsync(&out, sizeof(unsigned), pool, stream));
        fill<<<(n + 255) / 256, 256, 0, stream>>>(data, n, seed);
        fold<<<1, 32, 0, stream>>>(data, n, out);
        CHECK(cudaMemcpyAsync(&found, out, sizeof found, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaFreeAsync(data, stream));
        CHECK(cudaFreeAsync(out, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (unsigned i = 0; i < n; ++i) want ^= (i ^ seed) * 2654435761u;
        right &= found == want;
    }
    expect("memory in the order of a stream", right);
    CHECK(cudaMemPoolTrimTo(pool, 0));
    unsigned* rest = nullptr;
    CHECK(cudaMallocAsync(&rest, 64, 0));
    unsigned long long used = 0;
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    expect("what the pool holds", used >= 64);
    CHECK(cudaFree(rest));
    size_t free = 0, all = 0;
    CHECK(cudaMemGetInfo(&free, &all));
    expect("memory of the device", free > 0 && free <= all);
    expect("freed twice", cudaFreeAsync(rest, stream) == cudaErrorInvalidValue);
    return verdict();
}
