// An inclusive prefix sum over many blocks: scans of warps, of blocks, of the sums of blocks.

#include "check.h"

const int THREADS = 256;

__device__ int scan_warp(int value)
{
    int lane = threadIdx.x & 31;
    for (int by = 1; by < 32; by *= 2) {
        int before = __shfl_up_sync(0xffffffffu, value, by);
        if (lane >= by) value += before;
    }
    return value;
}

__device__ int scan_block(int value)
{
    __shared__ int warps[THREADS / 32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    value = scan_warp(value);
    if (lane == 31) warps[warp] = value;
    __syncthreads();
    if (warp == 0) {
        int sum = lane < THREADS / 32 ? warps[lane] : 0;
        sum = scan_warp(sum);
        if (lane < THREADS / 32) warps[lane] = sum;
    }
    __syncthreads();
    return warp ? value + warps[warp - 1] : value;
}

__global__ void scan_blocks(const int* in, int* out, int* sums, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    int value = scan_block(i < n ? in[i] : 0);
    if (i < n) out[i] = value;
    if (sums && threadIdx.x == THREADS - 1) sums[blockIdx.x] = value;
}

__global__ void add_sums(int* out, const int* sums, int n)
{
    int i = (blockIdx.x + 1) * THREADS + threadIdx.x;
    if (i < n) out[i] += sums[blockIdx.x];
}

static bool scans(int n)
{
    std::vector<int> in(n);
    for (int i = 0; i < n; ++i) in[i] = (i * 7919) % 201 - 100;
    const int blocks = (n + THREADS - 1) / THREADS;
    int* from = upload(in);
    int* to = upload(std::vector<int>(n));
    int* sums = upload(std::vector<int>(blocks));
    scan_blocks<<<blocks, THREADS>>>(from, to, sums, n);
    scan_blocks<<<1, THREADS>>>(sums, sums, nullptr, blocks);
    if (blocks > 1) add_sums<<<blocks - 1, THREADS>>>(to, sums, n);
    CHECK(cudaGetLastError());
    std::vector<int> out = download(to, n);
    bool right = true;
    for (int i = 0, sum = 0; i < n; ++i) {
        sum += in[i];
        right &= out[i] == sum;
    }
    return right;
}

int main()
{
    expect("one element", scans(1));
    expect("less than a block", scans(200));
    expect("a block", scans(THREADS));
    expect("many blocks", scans(5000));
    return verdict();
}
