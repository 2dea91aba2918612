// Half precision: scalars and pairs, conversions, comparisons, and a dot product.

#include <cmath>

#include <cuda_fp16.h>

#include "check.h"

__global__ void scalars(const float* in, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half x = __float2half(in[i]), y = __float2half(0.5f);
    __half sum = x + y, product = x * y, fused = __hfma(x, x, y), quotient = x / __float2half(4.0f);
    float* to = out + 6 * i;
    to[0] = __half2float(sum);
    to[1] = __half2float(product);
    to[2] = __half2float(fused);
    to[3] = __half2float(quotient);
    to[4] = __half2float(__hmax(x, y)) + (__hgt(x, y) ? 100.0f : 0.0f);
    to[5] = __half2float(hsqrt(__habs(x))) + static_cast<float>(__half2int_rn(x));
}

__global__ void dot(const __half2* a, const __half2* b, float* out, int pairs)
{
    __half2 sum = __float2half2_rn(0.0f);
    for (int i = threadIdx.x; i < pairs; i += 32) sum = __hfma2(a[i], b[i], sum);
    float value = __low2float(sum) + __high2float(sum);
    for (int step = 16; step; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
    if (threadIdx.x == 0) *out = value;
}

int main()
{
    // Numbers whose sums, products and quotients are numbers of half precision, all but the roots.
    const int n = 64;
    std::vector<float> in(n);
    for (int i = 0; i < n; ++i) in[i] = static_cast<float>(i - 32) * 0.25f;
    float* out = upload(std::vector<float>(6 * n));
    scalars<<<2, 32>>>(upload(in), out, n);
    CHECK(cudaDeviceSynchronize());
    std::vector<float> found = download(out, 6 * n);
    bool arithmetic = true, comparisons = true, roots = true;
    for (int i = 0; i < n; ++i) {
        float x = in[i];
        const float* at = &found[6 * i];
        arithmetic &= at[0] == x + 0.5f && at[1] == x * 0.5f && at[2] == x * x + 0.5f && at[3] == x / 4;
        comparisons &= at[4] == (x > 0.5f ? x + 100 : 0.5f);
        roots &= std::fabs(at[5] - (std::sqrt(std::fabs(x)) + std::nearbyint(x))) < 2e-3f;
    }
    expect("arithmetic", arithmetic);
    expect("comparisons", comparisons);
    expect("roots and integers", roots);

    std::vector<__half> a(256), b(256);
    float want = 0;
    for (int i = 0; i < 256; ++i) {
        float x = static_cast<float>(i % 9) * 0.5f, y = static_cast<float>(i % 5 - 2);
        a[i] = __float2half(x);
        b[i] = __float2half(y);
        want += x * y;
    }
    const __half2* left = reinterpret_cast<const __half2*>(upload(a));
    const __half2* right = reinterpret_cast<const __half2*>(upload(b));
    dot<<<1, 32>>>(left, right, out, 128);
    expect("a dot product of pairs", download(out, 1)[0] == want);
    return verdict();
}
