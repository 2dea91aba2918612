// Lanes of a warp talk: shuffles, votes, matches, reductions, in full and in divergent warps.

#include "check.h"

struct Row {
    int up, down, across, indexed, half;
    unsigned ballot, any, all, alike, least, sum, bits, active;
    double far;
};

__global__ void talk(const int* in, Row* out)
{
    const unsigned full = 0xffffffffu;
    int lane = threadIdx.x, value = in[lane];
    Row row = {};
    row.up = __shfl_up_sync(full, value, 3);
    row.down = __shfl_down_sync(full, value, 5);
    row.across = __shfl_xor_sync(full, value, 9);
    row.indexed = __shfl_sync(full, value, lane * 7);
    row.half = __shfl_down_sync(full, value, 2, 8);
    row.far = __shfl_sync(full, value * 0.125, 31 - lane);
    row.ballot = __ballot_sync(full, value > 10);
    row.any = __any_sync(full, value == 3);
    row.all = __all_sync(full, value < 50);
    row.alike = __match_any_sync(full, value & 3);
#if __CUDA_ARCH__ >= 800
    row.least = __reduce_min_sync(full, static_cast<unsigned>(value));
    row.sum = __reduce_add_sync(full, static_cast<unsigned>(value));
    row.bits = __reduce_xor_sync(full, static_cast<unsigned>(value));
#else
    row.least = row.sum = row.bits = value;
    for (int step = 16; step; step /= 2) {
        row.least = min(row.least, __shfl_xor_sync(full, row.least, step));
        row.sum += __shfl_xor_sync(full, row.sum, step);
        row.bits ^= __shfl_xor_sync(full, row.bits, step);
    }
#endif
    if (lane % 3 == 1) {
        unsigned mask = __activemask();
        row.active = mask & 0x92492492u;
        row.up += __shfl_sync(0x92492492u, value, 4);
    }
    __syncwarp();
    out[lane] = row;
}

int main()
{
    std::vector<int> in(32);
    for (int i = 0; i < 32; ++i) in[i] = (i * 13 + 5) % 41;
    Row* device = upload(std::vector<Row>(32));
    talk<<<1, 32>>>(upload(in), device);
    std::vector<Row> rows = download(device, 32);
    unsigned ballot = 0, least = 100, sum = 0, bits = 0, any = 0, all = 1;
    for (int i = 0; i < 32; ++i) {
        ballot |= (in[i] > 10 ? 1u : 0u) << i;
        least = static_cast<unsigned>(in[i]) < least ? in[i] : least;
        sum += in[i];
        bits ^= in[i];
        any |= in[i] == 3;
        all &= in[i] < 50;
    }
    bool shuffles = true, votes = true, matches = true, reductions = true, active = true;
    for (int i = 0; i < 32; ++i) {
        const Row& row = rows[i];
        unsigned alike = 0;
        for (int k = 0; k < 32; ++k) alike |= ((in[k] & 3) == (in[i] & 3) ? 1u : 0u) << k;
        int up = in[i < 3 ? i : i - 3] + (i % 3 == 1 ? in[4] : 0);
        shuffles &= row.up == up && row.down == in[i + 5 < 32 ? i + 5 : i] && row.across == in[i ^ 9];
        shuffles &= row.indexed == in[i * 7 % 32] && row.far == in[31 - i] * 0.125;
        shuffles &= row.half == in[i % 8 < 6 ? i + 2 : i];
        votes &= row.ballot == ballot && row.any == any && row.all == all;
        matches &= row.alike == alike;
        reductions &= row.least == least && row.sum == sum && row.bits == bits;
        active &= i % 3 != 1 || (row.active >> i & 1);
    }
    expect("shuffles", shuffles);
    expect("votes", votes);
    expect("matches", matches);
    expect("reductions", reductions);
    expect("active lanes", active);
    return verdict();
}
