// Thrust: vectors of the device, transformations, reductions, and iterators that count.

#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>

#include "check.h"

struct Affine {
    float factor, offset;
    __host__ __device__ float operator()(float x) const { return factor * x + offset; }
};

struct Divides {
    int number;
    __host__ __device__ int operator()(int i) const { return number % (i + 1) == 0 ? i + 1 : 0; }
};

int main()
{
    const int n = 1200;
    thrust::device_vector<float> a(n), b(n);
    thrust::sequence(a.begin(), a.end(), 1.0f);
    thrust::transform(a.begin(), a.end(), b.begin(), Affine{2.0f, -3.0f});
    thrust::host_vector<float> host = b;
    bool right = true;
    for (int i = 0; i < n; ++i) right &= host[i] == 2.0f * static_cast<float>(i + 1) - 3.0f;
    expect("a transformation", right);
    expect("a sum", thrust::reduce(a.begin(), a.end(), 0.0f) == 0.5f * n * (n + 1));
    expect("a greatest element", thrust::reduce(b.begin(), b.end(), -1.0f, thrust::maximum<float>()) == 2.0f * n - 3);
    thrust::counting_iterator<int> first(0);
    int divisors = thrust::transform_reduce(first, first + n, Divides{1200}, 0, thrust::plus<int>());
    int want = 0;
    for (int i = 1; i <= n; ++i) want += 1200 % i == 0 ? i : 0;
    expect("a reduction over numbers", divisors == want);
    a[7] = -5.0f;
    expect("an element", a[7] == -5.0f && a[8] == 9.0f);
    return verdict();
}
