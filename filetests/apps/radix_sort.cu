// A radix sort of keys with values: a pass of four bits counts, scans the counts, and scatters in order.

#include <algorithm>

#include "check.h"

const int THREADS = 128, BITS = 4, DIGITS = 1 << BITS;

__global__ void count(const unsigned* keys, int* counts, int n, int shift)
{
    __shared__ int bins[DIGITS];
    if (threadIdx.x < DIGITS) bins[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) atomicAdd(&bins[keys[i] >> shift & (DIGITS - 1)], 1);
    __syncthreads();
    // Digits first, blocks second: the order of the result.
    if (threadIdx.x < DIGITS) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

__global__ void scan(int* counts, int n)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        int value = counts[i];
        counts[i] = sum;
        sum += value;
    }
}

__global__ void scatter(const unsigned* keys, const int* values, unsigned* to_keys, int* to_values, const int* starts,
                        int n, int shift)
{
    __shared__ unsigned char digits[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    unsigned key = i < n ? keys[i] : 0;
    int digit = i < n ? static_cast<int>(key >> shift & (DIGITS - 1)) : DIGITS;
    digits[threadIdx.x] = static_cast<unsigned char>(digit);
    __syncthreads();
    if (i >= n) return;
    int rank = 0;
    for (int k = 0; k < threadIdx.x; ++k) rank += digits[k] == digit;
    int at = starts[digit * gridDim.x + blockIdx.x] + rank;
    to_keys[at] = key;
    to_values[at] = values[i];
}

int main()
{
    const int n = 1500, blocks = (n + THREADS - 1) / THREADS;
    std::vector<unsigned> keys(n);
    std::vector<int> order(n);
    for (int i = 0; i < n; ++i) {
        keys[i] = i * 2654435761u >> (i % 20);
        order[i] = i;
    }
    unsigned* a = upload(keys);
    unsigned* b = upload(keys);
    int* values_a = upload(order);
    int* values_b = upload(order);
    int* counts = upload(std::vector<int>(DIGITS * blocks));
    for (int shift = 0; shift < 32; shift += BITS) {
        count<<<blocks, THREADS>>>(a, counts, n, shift);
        scan<<<1, 1>>>(counts, DIGITS * blocks);
        scatter<<<blocks, THREADS>>>(a, values_a, b, values_b, counts, n, shift);
        std::swap(a, b);
        std::swap(values_a, values_b);
    }
    CHECK(cudaDeviceSynchronize());
    std::stable_sort(order.begin(), order.end(), [&](int x, int y) { return keys[x] < keys[y]; });
    std::vector<unsigned> found = download(a, n);
    std::vector<int> values = download(values_a, n);
    bool sorted = true;
    for (int i = 0; i < n; ++i) sorted &= found[i] == keys[order[i]];
    expect("keys in order", sorted);
    expect("values go with them, stably", values == order);
    return verdict();
}
