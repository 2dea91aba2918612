// Cooperative groups: blocks, tiles of them, reductions and scans of tiles, and lanes that happen to be together.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void tiles(const int* in, int* sums, int* scans, int* block_sums)
{
    __shared__ int partial[8];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    int at = block.group_index().x * block.size() + block.thread_rank(), value = in[at];
    int sum = cg::reduce(tile, value, cg::plus<int>());
    scans[at] = cg::inclusive_scan(tile, value);
    if (tile.thread_rank() == 0) {
        partial[tile.meta_group_rank()] = sum;
        sums[at / 16] = sum;
    }
    block.sync();
    if (block.thread_rank() == 0) {
        int all = 0;
        for (unsigned i = 0; i < tile.meta_group_size(); ++i) all += partial[i];
        block_sums[block.group_index().x] = all;
    }
}

__global__ void shuffles(const int* in, int* out)
{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto quad = cg::tiled_partition<4>(warp);
    int value = in[block.thread_rank()];
    int next = quad.shfl((int)value, (quad.thread_rank() + 1) % 4);
    int votes = __popc(warp.ballot(value & 1));
    int halves = cg::reduce(quad, value, cg::greater<int>());
    out[block.thread_rank()] = next + 1000 * votes + (warp.any(value == 5) ? 100000 : 0) + 1000000 * halves;
}

// One atomic operation for all lanes that take the branch.
__global__ void compact(const int* in, int* out, int* count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        int first = 0;
        if (active.thread_rank() == 0) first = atomicAdd(count, static_cast<int>(active.size()));
        out[active.shfl(first, 0) + active.thread_rank()] = in[i];
    }
}

int main()
{
    const int n = 256;
    std::vector<int> in(n);
    for (int i = 0; i < n; ++i) in[i] = (i * 37 + 11) % 64;
    int* from = upload(in);
    int* sums = upload(std::vector<int>(n / 16));
    int* scans = upload(std::vector<int>(n));
    int* blocks = upload(std::vector<int>(2));
    tiles<<<2, 128>>>(from, sums, scans, blocks);
    CHECK(cudaDeviceSynchronize());
    std::vector<int> sum = download(sums, n / 16), scan = download(scans, n), block = download(blocks, 2);
    bool reduced = true, scanned = true;
    int total[2] = {0, 0};
    for (int i = 0, running = 0; i < n; ++i) {
        running = i % 16 ? running + in[i] : in[i];
        scanned &= scan[i] == running;
        if (i % 16 == 15) reduced &= sum[i / 16] == running;
        total[i / 128] += in[i];
    }
    expect("reductions of tiles", reduced);
    expect("scans of tiles", scanned);
    expect("a block", block[0] == total[0] && block[1] == total[1]);

    int* out = upload(std::vector<int>(n));
    shuffles<<<1, 64>>>(from, out);
    CHECK(cudaDeviceSynchronize());
    std::vector<int> found = download(out, n);
    bool right = true;
    for (int i = 0; i < 64; ++i) {
        int odd = 0, any = 0, greatest = 0;
        for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) {
            odd += in[k] & 1;
            any |= in[k] == 5;
        }
        for (int k = i / 4 * 4; k < i / 4 * 4 + 4; ++k) greatest = in[k] > greatest ? in[k] : greatest;
        right &= found[i] == in[i / 4 * 4 + (i + 1) % 4] + 1000 * odd + 100000 * any + 1000000 * greatest;
    }
    expect("tiles of tiles", right);

    int* count = upload(std::vector<int>(1));
    compact<<<2, 128>>>(from, out, count, n);
    CHECK(cudaDeviceSynchronize());
    int kept = download(count, 1)[0], want = 0;
    long long product = 0, expected = 0;
    for (int value : in)
        if (value % 3 == 0) {
            ++want;
            expected += value * value + 1;
        }
    found = download(out, n);
    for (int i = 0; i < kept && i < n; ++i) product += found[i] % 3 ? -1 : found[i] * found[i] + 1;
    expect("lanes that are together", kept == want && product == expected);
    return verdict();
}
