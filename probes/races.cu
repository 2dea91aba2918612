// What racy programs compute, forty times each.
//
//     nvcc -arch=sm_90 -std=c++17 -o races races.cu && ./races

#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>
#include <map>
#include <string>
#include <vector>
typedef uint32_t u32;
__global__ void r1(float *x) {
    for (int i = 0; i < 100; i++)
        x[threadIdx.x] += 1;
}
__global__ void r1v(volatile float *x) {
    for (int i = 0; i < 100; i++)
        x[threadIdx.x] += 1;
}
__global__ void r1s(float *y) {
    __shared__ volatile float x[32];
    if (threadIdx.y == 0)
        x[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < 100; i++)
        x[threadIdx.x] += 1;
    __syncthreads();
    if (threadIdx.y == 0)
        y[threadIdx.x] = x[threadIdx.x];
}
__global__ void r2(const float *a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = 0;
        for (int j = 0; j < n; j++)
            y[i] += a[i * n + j] * x[j];
    }
}
__global__ void r3(const int *in, int *out) {
    __shared__ volatile int s[256];
    int t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
    s[t] = in[t];
    int l = s[(t + 255) & 255], r = s[(t + 33) & 255];
    out[t] = l * 10000 + r;
}
__global__ void r4(int *c) {
    for (int i = 0; i < 10; i++)
        c[0]++;
}
__global__ void r5(int *h, const int *bin, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        h[bin[i]]++;
}
__global__ void r6(volatile int *a, int steps) {
    int t = threadIdx.x;
    for (int k = 0; k < steps; k++) {
        int v = a[(t + 1) & 255] + a[(t + 255) & 255];
        a[t] = v & 0xffff;
    }
}
__global__ void r7(int *a) {
    a[threadIdx.x & 31] = threadIdx.x;
}
__global__ void r8(int *a) {
    a[0] = blockIdx.x * 1000 + threadIdx.x;
}
static u32 sum(const std::vector<u32> &v) {
    u32 h = 2166136261u;
    for (u32 x : v) {
        h ^= x;
        h *= 16777619u;
    }
    return h;
}
template <class F> static void rep(const char *name, int words, F f, bool flt = false) {
    std::map<std::string, int> seen;
    for (int k = 0; k < 40; k++) {
        u32 *d;
        cudaMalloc(&d, 4 * words);
        cudaMemset(d, 0, 4 * words);
        f(d);
        cudaDeviceSynchronize();
        std::vector<u32> h(words);
        cudaMemcpy(h.data(), d, 4 * words, cudaMemcpyDeviceToHost);
        char b[200];
        if (flt)
            sprintf(b, "%g %g %g hash %08x", *(float *)&h[0], *(float *)&h[1], *(float *)&h[words - 1], sum(h));
        else
            sprintf(b, "%d %d %d hash %08x", h[0], h[1], h[words - 1], sum(h));
        seen[b]++;
        cudaFree(d);
    }
    printf("%s: %zu different; ", name, seen.size());
    int i = 0;
    for (auto &s : seen) {
        if (i++ < 4)
            printf("[%s x%d] ", s.first.c_str(), s.second);
    }
    printf("\n");
}
int main() {
    rep("r1 8 warps float", 32, [](u32 *d) { r1<<<1, dim3(32, 8)>>>((float *)d); }, true);
    rep("r1 volatile", 32, [](u32 *d) { r1v<<<1, dim3(32, 8)>>>((float *)d); }, true);
    rep("r1 volatile 32 warps", 32, [](u32 *d) { r1v<<<1, dim3(32, 32)>>>((float *)d); }, true);
    rep("r1 volatile 4 blocks", 32, [](u32 *d) { r1v<<<4, dim3(32, 8)>>>((float *)d); }, true);
    rep("r1 shared", 32, [](u32 *d) { r1s<<<1, dim3(32, 8)>>>((float *)d); }, true);
    rep("r1 shared 32", 32, [](u32 *d) { r1s<<<1, dim3(32, 32)>>>((float *)d); }, true);
    {
        float *a, *x;
        cudaMallocManaged(&a, 4 * 64 * 64);
        cudaMallocManaged(&x, 4 * 64);
        for (int i = 0; i < 4096; i++)
            a[i] = (i * 7 % 13);
        for (int i = 0; i < 64; i++)
            x[i] = i % 5;
        rep("r2 16x16", 64, [=](u32 *d) { r2<<<4, dim3(16, 16)>>>(a, x, (float *)d, 64); }, true);
        rep("r2 32x8", 64, [=](u32 *d) { r2<<<2, dim3(32, 8)>>>(a, x, (float *)d, 64); }, true);
        float e = 0;
        for (int j = 0; j < 64; j++)
            e += a[64 + j] * x[j];
        printf("r2 right y[1] %g\n", e);
    }
    {
        int *in;
        cudaMallocManaged(&in, 1024);
        for (int i = 0; i < 256; i++)
            in[i] = i + 1;
        rep("r3", 256, [=](u32 *d) { r3<<<1, 256>>>(in, (int *)d); });
    }
    rep("r4 1x32", 1, [](u32 *d) { r4<<<1, 32>>>((int *)d); });
    rep("r4 1x256", 1, [](u32 *d) { r4<<<1, 256>>>((int *)d); });
    rep("r4 100x256", 1, [](u32 *d) { r4<<<100, 256>>>((int *)d); });
    {
        int *b;
        cudaMallocManaged(&b, 4 * 4096);
        for (int i = 0; i < 4096; i++)
            b[i] = (i * 2654435761u >> 7) % 64;
        rep("r5 16x256", 64, [=](u32 *d) { r5<<<16, 256>>>((int *)d, b, 4096); });
        rep("r5 1x256", 64, [=](u32 *d) { r5<<<1, 256>>>((int *)d, b, 256); });
    }
    for (int s : {1, 2, 4, 16})
        rep(("r6 steps " + std::to_string(s)).c_str(), 256, [s](u32 *d) {
            std::vector<u32> h(256);
            for (int i = 0; i < 256; i++)
                h[i] = i + 1;
            cudaMemcpy(d, h.data(), 1024, cudaMemcpyHostToDevice);
            r6<<<1, 256>>>((int *)d, s);
        });
    rep("r7 1x256", 32, [](u32 *d) { r7<<<1, 256>>>((int *)d); });
    rep("r8 1x32", 1, [](u32 *d) { r8<<<1, 32>>>((int *)d); });
    rep("r8 8x256", 1, [](u32 *d) { r8<<<8, 256>>>((int *)d); });
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
