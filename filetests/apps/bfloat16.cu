// bfloat16: conversions with rounding, arithmetic on scalars and pairs, a matrix times a vector.
// needs compute_80

#include <cstring>

#include <cuda_bf16.h>

#include "check.h"

__global__ void convert(const float* in, unsigned short* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __bfloat16_as_ushort(__float2bfloat16(in[i]));
}

__global__ void multiply(const __nv_bfloat16* matrix, const __nv_bfloat16* vector, float* out, int width)
{
    float sum = 0;
    for (int k = 0; k < width; ++k) {
        __nv_bfloat16 product = matrix[threadIdx.x * width + k] * vector[k];
        sum += __bfloat162float(product);
    }
    out[threadIdx.x] = sum;
}

__global__ void pairs(const __nv_bfloat162* in, __nv_bfloat162* out)
{
    __nv_bfloat162 two = __float2bfloat162_rn(2.0f), value = in[threadIdx.x];
    out[threadIdx.x] = __hadd2(__hfma2(value, two, value), two);
}

static unsigned short nearest(float value)
{
    unsigned bits;
    std::memcpy(&bits, &value, sizeof bits);
    return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

int main()
{
    const int n = 96, width = 16;
    std::vector<float> in(n);
    for (int i = 0; i < n; ++i) in[i] = (static_cast<float>(i) - 40.3f) * 1.2345f;
    unsigned short* bits = upload(std::vector<unsigned short>(n));
    convert<<<3, 32>>>(upload(in), bits, n);
    CHECK(cudaDeviceSynchronize());
    std::vector<unsigned short> found = download(bits, n);
    bool right = true;
    for (int i = 0; i < n; ++i) right &= found[i] == nearest(in[i]);
    expect("conversions round to nearest even", right);

    std::vector<__nv_bfloat16> matrix(32 * width), vector(width);
    for (int i = 0; i < 32 * width; ++i) matrix[i] = __float2bfloat16(static_cast<float>(i % 11 - 5) * 0.5f);
    for (int i = 0; i < width; ++i) vector[i] = __float2bfloat16(static_cast<float>(i % 4 + 1));
    float* out = upload(std::vector<float>(32));
    multiply<<<1, 32>>>(upload(matrix), upload(vector), out, width);
    std::vector<float> sums = download(out, 32);
    right = true;
    for (int row = 0; row < 32; ++row) {
        float want = 0;
        for (int k = 0; k < width; ++k) want += static_cast<float>((row * width + k) % 11 - 5) * 0.5f * (k % 4 + 1);
        right &= sums[row] == want;
    }
    expect("a matrix times a vector", right);

    __nv_bfloat162* from = reinterpret_cast<__nv_bfloat162*>(upload(matrix));
    __nv_bfloat162* to = reinterpret_cast<__nv_bfloat162*>(upload(matrix));
    pairs<<<1, 32>>>(from, to);
    std::vector<__nv_bfloat162> pair = download(to, 32);
    right = true;
    for (int i = 0; i < 32; ++i) {
        right &= __low2float(pair[i]) == 3 * __bfloat162float(matrix[2 * i]) + 2;
        right &= __high2float(pair[i]) == 3 * __bfloat162float(matrix[2 * i + 1]) + 2;
    }
    expect("pairs", right);
    return verdict();
}
