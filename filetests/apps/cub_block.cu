// Blocks and warps by CUB: loads, scans, reductions and sorts inside of kernels.

#include <algorithm>
#include <cub/cub.cuh>

#include "check.h"

const int THREADS = 64, ITEMS = 4, TILE = THREADS * ITEMS;

__global__ void sort_and_scan(const int* in, int* sorted, int* scanned, int* sums)
{
    typedef cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE> Load;
    typedef cub::BlockRadixSort<int, THREADS, ITEMS> Sort;
    typedef cub::BlockScan<int, THREADS> Scan;
    typedef cub::BlockReduce<int, THREADS> Reduce;
    __shared__ union {
        Load::TempStorage load;
        Sort::TempStorage sort;
        Scan::TempStorage scan;
        Reduce::TempStorage reduce;
    } shared;
    int items[ITEMS];
    Load(shared.load).Load(in + blockIdx.x * TILE, items);
    __syncthreads();
    int sum = Reduce(shared.reduce).Sum(items);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    __syncthreads();
    Sort(shared.sort).Sort(items);
    for (int k = 0; k < ITEMS; ++k) sorted[blockIdx.x * TILE + threadIdx.x * ITEMS + k] = items[k];
    __syncthreads();
    Scan(shared.scan).ExclusiveSum(items, items);
    for (int k = 0; k < ITEMS; ++k) scanned[blockIdx.x * TILE + threadIdx.x * ITEMS + k] = items[k];
}

int main()
{
    const int n = 3 * TILE;
    std::vector<int> in(n);
    for (int i = 0; i < n; ++i) in[i] = (i * 7919 + 3) % 2003 - 1000;
    int* sorted = upload(in);
    int* scanned = upload(in);
    int* sums = upload(std::vector<int>(3));
    sort_and_scan<<<3, THREADS>>>(upload(in), sorted, scanned, sums);
    CHECK(cudaDeviceSynchronize());
    std::vector<int> order = download(sorted, n), scan = download(scanned, n), sum = download(sums, 3);
    bool sorts = true, scans = true, reduces = true;
    for (int block = 0; block < 3; ++block) {
        std::sort(in.begin() + block * TILE, in.begin() + (block + 1) * TILE);
        int running = 0;
        for (int i = block * TILE; i < (block + 1) * TILE; ++i) {
            sorts &= order[i] == in[i];
            scans &= scan[i] == running;
            running += in[i];
        }
        reduces &= sum[block] == running;
    }
    expect("sorts", sorts);
    expect("scans", scans);
    expect("reductions", reduces);
    return verdict();
}
