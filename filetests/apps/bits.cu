// Intrinsics on bits: counting, reversing, permuting, funnel shifts, products of 24 bits, and sums of bytes.

#include "check.h"

struct Row {
    unsigned reversed, count, zeros, first, permuted, left, right, average, dot;
    unsigned long long wide_reversed;
    int wide_zeros, wide_count, product, product_high, sad, signed_average;
};

__global__ void run(const unsigned* a, const unsigned* b, Row* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    unsigned long long wide = static_cast<unsigned long long>(x) << 32 | y;
    Row row;
    row.reversed = __brev(x);
    row.count = __popc(x);
    row.zeros = __clz(x);
    row.first = __ffs(x);
    row.permuted = __byte_perm(x, y, 0x7135);
    row.left = __funnelshift_l(x, y, i);
    row.right = __funnelshift_rc(x, y, i);
    row.average = __uhadd(x, y);
    row.dot = __dp4a(x, y, 9u);
    row.wide_reversed = __brevll(wide);
    row.wide_zeros = __clzll(wide >> (i % 40));
    row.wide_count = __popcll(wide) + 100 * __ffsll(wide);
    row.product = __mul24(x, y);
    row.product_high = __mulhi(static_cast<int>(x), static_cast<int>(y));
    row.sad = __sad(static_cast<int>(x), static_cast<int>(y), 5u);
    row.signed_average = __rhadd(static_cast<int>(x), static_cast<int>(y));
    out[i] = row;
}

static unsigned reverse(unsigned long long value, int bits, unsigned long long* all)
{
    unsigned long long result = 0;
    for (int i = 0; i < bits; ++i) result |= (value >> i & 1) << (bits - 1 - i);
    *all = result;
    return static_cast<unsigned>(result);
}

static bool correct(unsigned x, unsigned y, int i, const Row& row)
{
    unsigned long long wide = static_cast<unsigned long long>(x) << 32 | y, mirrored = 0;
    unsigned long long both = static_cast<unsigned long long>(y) << 32 | x, scratch = 0;
    bool right = row.reversed == reverse(x, 32, &scratch) && row.count == static_cast<unsigned>(__builtin_popcount(x));
    right &= row.zeros == (x ? static_cast<unsigned>(__builtin_clz(x)) : 32);
    right &= row.first == static_cast<unsigned>(__builtin_ffs(static_cast<int>(x)));
    auto byte = [&](int at) { return static_cast<unsigned>(both >> (8 * at) & 0xff); };
    right &= row.permuted == (byte(5) | byte(3) << 8 | byte(1) << 16 | byte(7) << 24);
    right &= row.left == static_cast<unsigned>(both << (i & 31) >> 32);
    right &= row.right == static_cast<unsigned>(both >> (i < 32 ? i : 32));
    right &= row.average == static_cast<unsigned>((static_cast<unsigned long long>(x) + y) / 2);
    unsigned dot = 9;
    for (int k = 0; k < 32; k += 8) dot += (x >> k & 0xff) * (y >> k & 0xff);
    right &= row.dot == dot;
    reverse(wide, 64, &mirrored);
    unsigned long long shifted = wide >> (i % 40);
    right &= row.wide_reversed == mirrored && row.wide_zeros == (shifted ? __builtin_clzll(shifted) : 64);
    right &= row.wide_count == __builtin_popcountll(wide) + 100 * __builtin_ffsll(static_cast<long long>(wide));
    long long low = (static_cast<int>(x << 8) >> 8), other = (static_cast<int>(y << 8) >> 8);
    right &= row.product == static_cast<int>(low * other);
    long long s = static_cast<int>(x), t = static_cast<int>(y);
    right &= row.product_high == static_cast<int>(s * t >> 32) && row.signed_average == static_cast<int>((s + t + 1) >> 1);
    right &= static_cast<unsigned>(row.sad) == static_cast<unsigned>(s > t ? s - t : t - s) + 5;
    return right;
}

int main()
{
    const int n = 64;
    std::vector<unsigned> a(n), b(n);
    for (int i = 0; i < n; ++i) {
        a[i] = i == 7 ? 0 : i * 2654435761u >> (i % 17);
        b[i] = i == 9 ? 0x80000000u : (i + 3) * 2246822519u;
    }
    Row* device = upload(std::vector<Row>(n));
    run<<<2, 32>>>(upload(a), upload(b), device, n);
    std::vector<Row> rows = download(device, n);
    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += correct(a[i], b[i], i, rows[i]) ? 0 : 1;
    expect("intrinsics on bits", wrong == 0);
    return verdict();
}
