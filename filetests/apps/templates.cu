// Templates, functors and lambdas; static and dynamic shared memory in one kernel.

#include "check.h"

struct Add {
    template <typename T>
    __device__ __host__ T operator()(T a, T b) const { return a + b; }
};

struct Max {
    template <typename T>
    __device__ __host__ T operator()(T a, T b) const { return a > b ? a : b; }
};

template <typename T>
struct Affine {
    T factor, offset;
    __device__ __host__ T operator()(T x) const { return factor * x + offset; }
};

template <int Block, typename T, typename Map, typename Combine>
__global__ void reduce(const T* in, T* out, int n, T start, Map map, Combine combine)
{
    __shared__ T partial[Block];
    T value = start;
    for (int i = blockIdx.x * Block + threadIdx.x; i < n; i += gridDim.x * Block) value = combine(value, map(in[i]));
    partial[threadIdx.x] = value;
    __syncthreads();
#pragma unroll
    for (int step = Block / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) partial[threadIdx.x] = combine(partial[threadIdx.x], partial[threadIdx.x + step]);
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

template <typename T, unsigned... Powers>
__global__ void powers(T* out)
{
    extern __shared__ char raw[];
    __shared__ T base;
    T* values = reinterpret_cast<T*>(raw);
    if (threadIdx.x == 0) {
        base = 3;
        int at = 0;
        auto put = [&](unsigned power) {
            T value = 1;
            for (unsigned i = 0; i < power; ++i) value *= base;
            values[at++] = value;
        };
        (put(Powers), ...);
    }
    __syncthreads();
    if (threadIdx.x < sizeof...(Powers)) out[threadIdx.x] = values[threadIdx.x];
}

template <typename T, typename Map, typename Combine>
static bool reduces(T start, Map map, Combine combine)
{
    std::vector<T> in(777);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>((i * 31) % 101) - 50;
    T want = start, found = start;
    for (T value : in) want = combine(want, map(value));
    T* out = upload(std::vector<T>(3));
    reduce<128><<<3, 128>>>(upload(in), out, 777, start, map, combine);
    CHECK(cudaGetLastError());
    for (T part : download(out, 3)) found = combine(found, part);
    return found == want;
}

int main()
{
    expect("sums of int", reduces<int>(0, Affine<int>{3, 1}, Add()));
    expect("sums of double", reduces<double>(0, Affine<double>{0.5, 2}, Add()));
    expect("greatest of short", reduces<short>(-30000, Affine<short>{-2, 7}, Max()));
    expect("greatest of float", reduces<float>(-1e9f, Affine<float>{-0.25f, 1}, Max()));
    expect("greatest of long long", reduces<long long>(-1LL << 60, Affine<long long>{1LL << 40, 1}, Max()));
    long long* out = upload(std::vector<long long>(4));
    powers<long long, 0, 1, 5, 30><<<1, 32, 4 * sizeof(long long)>>>(out);
    std::vector<long long> found = download(out, 4);
    expect("a pack of powers", found[0] == 1 && found[1] == 3 && found[2] == 243 && found[3] == 205891132094649LL);
    return verdict();
}
