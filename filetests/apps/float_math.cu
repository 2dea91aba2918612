// Single precision: the library, the fast intrinsics, rounding modes, special values.

#include <cmath>
#include <cstring>

#include "check.h"

__global__ void library(const float* in, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    float* to = out + i * 8;
    to[0] = sinf(x) + cosf(x);
    to[1] = expf(-x);
    to[2] = logf(x);
    to[3] = powf(x, 0.7f);
    to[4] = erff(x);
    to[5] = rsqrtf(x);
    to[6] = fmodf(100.0f, x);
    to[7] = tanhf(x);
}

__global__ void fast(const float* in, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    out[i] = __sinf(x) * __expf(-x) + __logf(x) + __powf(x, 1.5f) + __fdividef(1.0f, x) + __cosf(x);
}

__global__ void exact(unsigned* out)
{
    float a = 1.0f / 3.0f, b = 3.1f, tiny = 1e-38f;
    float results[10] = {__fadd_rz(a, b), __fmul_ru(a, b), __fmaf_rd(a, b, a), __fdiv_rn(b, a), __fsqrt_ru(b),
                         tiny / 7.0f,     fminf(a, NAN),   fmaxf(NAN, b),      copysignf(a, -b), ldexpf(a, 5)};
    for (int i = 0; i < 10; ++i) out[i] = __float_as_uint(results[i]);
    out[10] = isnan(sqrtf(-b)) && isinf(1.0f / (a - a)) && signbit(-0.0f);
    out[11] = static_cast<unsigned>(__float2int_rn(2.5f) * 1000 + __float2int_ru(2.1f) * 100 + __float2int_rz(-2.9f));
}

int main()
{
    const int n = 100;
    std::vector<float> in(n);
    for (int i = 0; i < n; ++i) in[i] = 0.05f + 0.061f * static_cast<float>(i);
    float* from = upload(in);
    float* to = upload(std::vector<float>(8 * n));
    library<<<2, 64>>>(from, to, n);
    std::vector<float> found = download(to, 8 * n);
    fast<<<2, 64>>>(from, to, n);
    std::vector<float> fasts = download(to, n);
    bool right = true, close = true;
    for (int i = 0; i < n; ++i) {
        double x = in[i];
        double want[8] = {std::sin(x) + std::cos(x), std::exp(-x),       std::log(x),           std::pow(x, 0.7f),
                          std::erf(x),               1.0 / std::sqrt(x), std::fmod(100.0, x), std::tanh(x)};
        for (int k = 0; k < 8; ++k) right &= std::fabs(found[8 * i + k] - want[k]) <= 4e-6 * (1 + std::fabs(want[k]));
        double rough = std::sin(x) * std::exp(-x) + std::log(x) + std::pow(x, 1.5) + 1 / x + std::cos(x);
        close &= std::fabs(fasts[i] - rough) <= 1e-4 * (1 + std::fabs(rough));
    }
    expect("the library", right);
    expect("fast intrinsics", close);

    unsigned* device = upload(std::vector<unsigned>(12));
    exact<<<1, 1>>>(device);
    std::vector<unsigned> bits = download(device, 12);
    float values[12];
    std::memcpy(values, bits.data(), sizeof values);
    const float a = 1.0f / 3.0f, b = 3.1f;
    const double sum = static_cast<double>(a) + b, product = static_cast<double>(a) * b;
    expect("rounding towards zero", values[0] <= sum && std::nextafter(values[0], 9.0f) > sum);
    expect("rounding up", values[1] >= product && std::nextafter(values[1], 0.0f) < product);
    expect("rounding down", values[2] <= product + a && std::nextafter(values[2], 9.0f) > product + a);
    expect("quotients and roots", values[3] == b / a && static_cast<double>(values[4]) * values[4] >= b);
    expect("subnormal numbers", values[5] == 1e-38f / 7.0f && values[5] > 0);
    expect("least and greatest with NaN", values[6] == a && values[7] == b);
    expect("signs and exponents", values[8] == -a && values[9] == a * 32);
    expect("special values", bits[10] == 1);
    expect("conversions", bits[11] == 2 * 1000 + 3 * 100 - 2);
    return verdict();
}
