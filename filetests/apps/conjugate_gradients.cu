// Conjugate gradients on a tridiagonal matrix; the host reads two dot products in each iteration.
#include <cstdio>
#include <cmath>
#include <cuda_runtime.h>
const int N = 256;
__global__ void spmv(const float *x, float *y) { int i = threadIdx.x; float s = 2.5f * x[i]; if (i) s -= x[i - 1]; if (i < N - 1) s -= x[i + 1]; y[i] = s; }
__global__ void dot(const float *a, const float *b, float *o) { __shared__ float s[N]; int i = threadIdx.x; s[i] = a[i] * b[i]; __syncthreads(); for (int k = N / 2; k; k /= 2) { if (i < k) s[i] += s[i + k]; __syncthreads(); } if (!i) *o = s[0]; }
__global__ void axpy(float a, const float *x, float *y) { y[threadIdx.x] += a * x[threadIdx.x]; }
__global__ void xpby(const float *x, float b, float *y) { y[threadIdx.x] = x[threadIdx.x] + b * y[threadIdx.x]; }
int main() {
    float h[N], *x, *r, *p, *q, *o; for (int i = 0; i < N; i++) h[i] = 1 + (i % 7);
    cudaMalloc(&x, 4 * N); cudaMalloc(&r, 4 * N); cudaMalloc(&p, 4 * N); cudaMalloc(&q, 4 * N); cudaMalloc(&o, 4);
    cudaMemset(x, 0, 4 * N); cudaMemcpy(r, h, 4 * N, cudaMemcpyHostToDevice); cudaMemcpy(p, h, 4 * N, cudaMemcpyHostToDevice);
    float rr, pq, old; dot<<<1, N>>>(r, r, o); cudaMemcpy(&rr, o, 4, cudaMemcpyDeviceToHost);
    int n = 0;
    for (; n < 100 && rr > 1e-6f; n++) {
        spmv<<<1, N>>>(p, q); dot<<<1, N>>>(p, q, o); cudaMemcpy(&pq, o, 4, cudaMemcpyDeviceToHost);
        float a = rr / pq; axpy<<<1, N>>>(a, p, x); axpy<<<1, N>>>(-a, q, r);
        old = rr; dot<<<1, N>>>(r, r, o); cudaMemcpy(&rr, o, 4, cudaMemcpyDeviceToHost);
        xpby<<<1, N>>>(r, rr / old, p);
    }
    cudaMemcpy(h, x, 4 * N, cudaMemcpyDeviceToHost); double s = 0; for (float v : h) s += v; printf("sum of the solution\n%.1f\n", s); return 0;
}
