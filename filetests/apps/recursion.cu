// Recursion on the device: depths that differ from thread to thread, two functions that call each other, and trees.

#include "check.h"

__device__ __host__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ __host__ bool is_odd(int n);
__device__ __host__ __noinline__ bool is_even(int n) { return n == 0 || is_odd(n - 1); }
__device__ __host__ __noinline__ bool is_odd(int n) { return n != 0 && is_even(n - 1); }

struct Tree {
    int value;
    int left, right;
};

__device__ __host__ __noinline__ int depth_sum(const Tree* trees, int at, int depth)
{
    if (at < 0) return 0;
    const Tree& tree = trees[at];
    return tree.value * depth + depth_sum(trees, tree.left, depth + 1) + depth_sum(trees, tree.right, depth + 1);
}

__global__ void recurse(const Tree* trees, unsigned* ackermanns, int* parities, int* sums)
{
    int i = threadIdx.x;
    ackermanns[i] = ackermann(i % 3, i % 5);
    parities[i] = is_even(i);
    sums[i] = depth_sum(trees, i, 1);
}

int main()
{
    const int n = 64;
    std::vector<Tree> trees(n);
    for (int i = 0; i < n; ++i) {
        int left = 2 * i + 1, right = 2 * i + 2;
        trees[i] = {i * 3 - 7, left < n ? left : -1, right < n ? right : -1};
    }
    unsigned* ackermanns = upload(std::vector<unsigned>(n));
    int* parities = upload(std::vector<int>(n));
    int* sums = upload(std::vector<int>(n));
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 16 << 10));
    size_t stack = 0;
    CHECK(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
    expect("a stack as large as was asked for", stack == 16 << 10);
    recurse<<<1, n>>>(upload(trees), ackermanns, parities, sums);
    CHECK(cudaDeviceSynchronize());
    std::vector<unsigned> a = download(ackermanns, n);
    std::vector<int> p = download(parities, n), s = download(sums, n);
    bool right[3] = {true, true, true};
    for (int i = 0; i < n; ++i) {
        right[0] &= a[i] == ackermann(i % 3, i % 5);
        right[1] &= p[i] == (i % 2 == 0);
        right[2] &= s[i] == depth_sum(trees.data(), i, 1);
    }
    expect("a function that calls itself", right[0]);
    expect("two that call each other", right[1]);
    expect("trees", right[2]);
    return verdict();
}
