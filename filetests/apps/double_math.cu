// Functions of the mathematical library in double precision, against those of the host.

#include <cmath>

#include "check.h"

const int FUNCTIONS = 20;

__device__ __host__ double compute(int which, double x)
{
    switch (which) {
    case 0: return sin(x);
    case 1: return cos(x);
    case 2: return tan(x);
    case 3: return exp(x);
    case 4: return log(x);
    case 5: return pow(x, 1.7);
    case 6: return sqrt(x);
    case 7: return cbrt(x);
    case 8: return erf(x);
    case 9: return atan2(x, 2.0);
    case 10: return sinh(x);
    case 11: return tanh(x);
    case 12: return log1p(x);
    case 13: return expm1(x);
    case 14: return lgamma(x);
    case 15: return hypot(x, 3.0);
    case 16: return fmod(1000.0, x);
    case 17: return log2(x) + exp2(-x);
    case 18: return asin(1.0 / (1.0 + x)) + acos(x / (1.0 + x));
    default: return floor(x) + ceil(x * 1.5) + trunc(-x) + rint(x * 2.5);
    }
}

__global__ void run(const double* in, double* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int which = 0; which < FUNCTIONS; ++which) out[which * n + i] = compute(which, in[i]);
}

int main()
{
    const int n = 128;
    std::vector<double> in(n);
    for (int i = 0; i < n; ++i) in[i] = 0.01 + 0.173 * i + (i % 7) * 1e-3;
    double* out = upload(std::vector<double>(n * FUNCTIONS));
    run<<<2, 64>>>(upload(in), out, n);
    CHECK(cudaDeviceSynchronize());
    std::vector<double> found = download(out, n * FUNCTIONS);
    const char* names[FUNCTIONS] = {"sin",  "cos",   "tan",  "exp",   "log",   "pow",    "sqrt",  "cbrt", "erf",  "atan2",
                                    "sinh", "tanh",  "log1p", "expm1", "lgamma", "hypot", "fmod", "log2", "asin", "round"};
    for (int which = 0; which < FUNCTIONS; ++which) {
        bool right = true;
        for (int i = 0; i < n; ++i) {
            double want = compute(which, in[i]), got = found[which * n + i];
            right &= std::fabs(got - want) <= 1e-13 * (1.0 + std::fabs(want)) && std::isfinite(got);
        }
        expect(names[which], right);
    }
    return verdict();
}
