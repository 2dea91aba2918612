// A radix sort of a whole device by CUB, of keys with values.

#include <algorithm>
#include <cub/cub.cuh>

#include "check.h"

int main()
{
    const int n = 2500;
    std::vector<unsigned> keys(n);
    std::vector<int> order(n);
    for (int i = 0; i < n; ++i) {
        keys[i] = i * 2654435761u >> (i % 21);
        order[i] = i;
    }
    unsigned* from = upload(keys);
    int* values = upload(order);
    unsigned* to = upload(keys);
    int* sorted = upload(order);
    void* scratch = nullptr;
    size_t bytes = 0;
    CHECK(cub::DeviceRadixSort::SortPairs(nullptr, bytes, from, to, values, sorted, n));
    CHECK(cudaMalloc(&scratch, bytes));
    CHECK(cub::DeviceRadixSort::SortPairs(scratch, bytes, from, to, values, sorted, n));
    CHECK(cudaDeviceSynchronize());
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
    expect("values go with their keys", download(sorted, n) == order);
    std::sort(keys.begin(), keys.end());
    expect("keys in order", download(to, n) == keys);
    return verdict();
}
