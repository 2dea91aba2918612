// Tiles of several warps: they wait for each other and reduce in memory that is reserved for it.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.h"

namespace cg = cooperative_groups;

template <int Size>
__global__ void rotate(const int* in, int* sums, int* next)
{
    __shared__ cg::block_tile_memory<256> scratch;
    __shared__ int values[256];
    auto block = cg::this_thread_block(scratch);
    auto tile = cg::tiled_partition<Size>(block);
    int at = block.thread_rank();
    for (int step = 0; step < 3; ++step) {
        values[at] = in[at] + step;
        tile.sync();
        int first = tile.meta_group_rank() * Size;
        next[at] = values[first + (tile.thread_rank() + 33) % Size];
        tile.sync();
    }
    int sum = cg::reduce(tile, in[at], cg::plus<int>());
    if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum;
}

template <int Size>
static void check(const char* what, const std::vector<int>& in)
{
    const int n = static_cast<int>(in.size());
    int* sums = upload(std::vector<int>(n / Size));
    int* next = upload(std::vector<int>(n));
    rotate<Size><<<1, n>>>(upload(in), sums, next);
    CHECK(cudaDeviceSynchronize());
    std::vector<int> found = download(sums, n / Size), neighbours = download(next, n);
    bool right = true;
    for (int i = 0; i < n; ++i) right &= neighbours[i] == in[i / Size * Size + (i % Size + 33) % Size] + 2;
    for (int tile = 0; tile < n / Size; ++tile) {
        int want = 0;
        for (int i = 0; i < Size; ++i) want += in[tile * Size + i];
        right &= found[tile] == want;
    }
    expect(what, right);
}

int main()
{
    std::vector<int> in(256);
    for (int i = 0; i < 256; ++i) in[i] = (i * 37 + 11) % 64;
    check<64>("tiles of two warps", in);
    check<128>("tiles of four warps", in);
    check<256>("a tile of all warps", in);
    return verdict();
}
