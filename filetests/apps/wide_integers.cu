// Integers of 64 and 128 bits: products, quotients, shifts, and arithmetic modulo a prime.

#include "check.h"

typedef unsigned long long Long;
typedef unsigned __int128 Huge;

const Long PRIME = (1ull << 61) - 1;

__device__ __host__ Long multiply(Long a, Long b, Long modulus)
{
    return static_cast<Long>(static_cast<Huge>(a) * b % modulus);
}

__device__ __host__ Long power(Long base, Long exponent)
{
    Long result = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) result = multiply(result, base, PRIME);
        base = multiply(base, base, PRIME);
    }
    return result;
}

struct Row {
    Long sum_low, sum_high, product_high, quotient, remainder, shifted, inverse;
    long long divided, modulo, right;
};

__device__ __host__ Row compute(Long a, Long b)
{
    Row row;
    Huge x = (static_cast<Huge>(a) << 64) | b, y = (static_cast<Huge>(b) << 64) | a;
    Huge sum = x + y, product = static_cast<Huge>(a) * b;
    row.sum_low = static_cast<Long>(sum);
    row.sum_high = static_cast<Long>(sum >> 64);
    row.product_high = static_cast<Long>(product >> 64);
    row.quotient = static_cast<Long>(x / (y >> 40 | 1));
    row.remainder = static_cast<Long>(x % (y >> 70 | 1));
    row.shifted = static_cast<Long>(x >> (a & 127)) ^ static_cast<Long>((y << (b & 127)) >> 64);
    row.inverse = multiply(power(a % PRIME, PRIME - 2), a % PRIME, PRIME);
    long long s = static_cast<long long>(a), t = static_cast<long long>(b | 1);
    row.divided = s / (t >> 20 | 1);
    row.modulo = s % (t >> 30 | 1);
    row.right = s >> (b & 63);
    return row;
}

__global__ void run(const Long* a, const Long* b, Row* out, Long* high, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = compute(a[i], b[i]);
    high[i] = __umul64hi(a[i], b[i]) ^ static_cast<Long>(__mul64hi(a[i], b[i]));
}

int main()
{
    const int n = 40;
    std::vector<Long> a(n), b(n);
    for (int i = 0; i < n; ++i) {
        a[i] = (i + 1) * 0x9e3779b97f4a7c15ull;
        b[i] = (i * i + 3) * 0xd1b54a32d192ed03ull >> (i % 23);
    }
    Row* rows = upload(std::vector<Row>(n));
    Long* highs = upload(std::vector<Long>(n));
    run<<<2, 32>>>(upload(a), upload(b), rows, highs, n);
    CHECK(cudaDeviceSynchronize());
    std::vector<Row> found = download(rows, n);
    std::vector<Long> high = download(highs, n);
    bool right[4] = {true, true, true, true};
    for (int i = 0; i < n; ++i) {
        Row want = compute(a[i], b[i]);
        const Row& row = found[i];
        Long of_signed = static_cast<Long>(
            static_cast<__int128>(static_cast<long long>(a[i])) * static_cast<long long>(b[i]) >> 64);
        right[0] &= row.sum_low == want.sum_low && row.sum_high == want.sum_high && row.shifted == want.shifted;
        right[1] &= row.product_high == want.product_high && high[i] == (want.product_high ^ of_signed);
        right[2] &= row.quotient == want.quotient && row.remainder == want.remainder && row.inverse == 1;
        right[3] &= row.divided == want.divided && row.modulo == want.modulo && row.right == want.right;
    }
    expect("sums and shifts of 128 bits", right[0]);
    expect("products", right[1]);
    expect("quotients of 128 bits", right[2]);
    expect("signed quotients of 64 bits", right[3]);
    return verdict();
}
