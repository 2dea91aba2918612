// Reductions and scans of a whole device by CUB.

#include <cub/cub.cuh>

#include "check.h"

struct Larger {
    template <typename T>
    __host__ __device__ T operator()(const T& a, const T& b) const { return a > b ? a : b; }
};

int main()
{
    const int n = 3000;
    std::vector<int> in(n);
    for (int i = 0; i < n; ++i) in[i] = (i * 7919 + 5) % 1009 - 500;
    int* from = upload(in);
    int* to = upload(std::vector<int>(n));
    void* scratch = nullptr;
    size_t bytes = 0;
    CHECK(cub::DeviceReduce::Sum(nullptr, bytes, from, to, n));
    CHECK(cudaMalloc(&scratch, bytes));
    CHECK(cub::DeviceReduce::Sum(scratch, bytes, from, to, n));
    int sum = 0, most = in[0];
    for (int value : in) {
        sum += value;
        most = value > most ? value : most;
    }
    expect("a sum", download(to, 1)[0] == sum);
    size_t needed = 0;
    CHECK(cub::DeviceReduce::Reduce(nullptr, needed, from, to, n, Larger(), -1000000));
    CHECK(cudaFree(scratch));
    CHECK(cudaMalloc(&scratch, needed));
    CHECK(cub::DeviceReduce::Reduce(scratch, needed, from, to, n, Larger(), -1000000));
    expect("a reduction by a functor", download(to, 1)[0] == most);

    CHECK(cub::DeviceScan::InclusiveSum(nullptr, bytes, from, to, n));
    CHECK(cudaFree(scratch));
    CHECK(cudaMalloc(&scratch, bytes));
    CHECK(cub::DeviceScan::InclusiveSum(scratch, bytes, from, to, n));
    std::vector<int> found = download(to, n);
    bool right = true;
    for (int i = 0, running = 0; i < n; ++i) right &= found[i] == (running += in[i]);
    expect("a scan", right);
    return verdict();
}
