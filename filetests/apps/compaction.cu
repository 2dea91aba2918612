// Stream compaction: the device counts what is to be kept, the host reads the count and launches as many blocks as it
// takes to work on that. Survivors are squared, thinned out again and summed, until few are left: every launch after
// the first has a size that was computed on the device.

#include "check.h"

constexpr int kBlock = 64;

// Keeps the elements that are no multiple of `divisor`, each block in a stretch of its own that it reserves with one
// atomic addition, and counts them.
__global__ void keep(const unsigned* in, unsigned n, unsigned divisor, unsigned* out, unsigned* count)
{
    __shared__ unsigned offsets[kBlock];
    __shared__ unsigned base;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool kept = i < n && in[i] % divisor != 0;
    offsets[threadIdx.x] = kept;
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        const unsigned before = threadIdx.x >= step ? offsets[threadIdx.x - step] : 0;
        __syncthreads();
        offsets[threadIdx.x] += before;
        __syncthreads();
    }
    if (threadIdx.x == blockDim.x - 1) {
        base = atomicAdd(count, offsets[threadIdx.x]);
    }
    __syncthreads();
    if (kept) {
        out[base + offsets[threadIdx.x] - 1] = in[i];
    }
}

__global__ void square(unsigned* data, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] = data[i] * data[i] + 1;
    }
}

__global__ void sum(const unsigned* data, unsigned n, unsigned* total)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(total, data[i]);
    }
}

static unsigned blocks(unsigned n)
{
    return (n + kBlock - 1) / kBlock;
}

int main()
{
    const unsigned divisors[] = {2, 3, 5, 7};
    std::vector<unsigned> host(3000);
    for (size_t i = 0; i < host.size(); ++i) {
        host[i] = static_cast<unsigned>(i * 2654435761u >> 7);
    }
    unsigned* in = upload(host);
    unsigned* out = upload(host);
    unsigned* count = upload(std::vector<unsigned>(2));
    unsigned n = static_cast<unsigned>(host.size());
    for (const unsigned divisor : divisors) {
        CHECK(cudaMemset(count, 0, sizeof *count));
        keep<<<blocks(n), kBlock>>>(in, n, divisor, out, count);
        unsigned kept = 0;
        CHECK(cudaMemcpy(&kept, count, sizeof kept, cudaMemcpyDeviceToHost));
        std::printf("kept %u of %u\n", kept, n);
        n = kept;
        if (n == 0) {
            break;
        }
        square<<<blocks(n), kBlock>>>(out, n);
        CHECK(cudaGetLastError());
        unsigned* swapped = in;
        in = out;
        out = swapped;
    }
    if (n > 0) {
        sum<<<blocks(n), kBlock>>>(in, n, count + 1);
        CHECK(cudaGetLastError());
    }
    const std::vector<unsigned> totals = download(count, 2);
    std::printf("sum %u\n", totals[1]);

    unsigned expected = 0;
    for (unsigned value : host) {
        bool kept = true;
        for (const unsigned divisor : divisors) {
            kept = kept && value % divisor != 0;
            value = value * value + 1;
        }
        expected += kept ? value : 0;
    }
    expect("the sum of what was kept", totals[1] == expected);
    return verdict();
}
