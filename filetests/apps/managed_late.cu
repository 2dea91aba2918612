// A managed variable that the host names for the first time after the kernel that writes it.
#include <cstdio>
#include <cuda_runtime.h>

__device__ __managed__ int result[64];

__global__ void k(int a) { result[threadIdx.x] = threadIdx.x * a + 1; }

int main() {
    int sum = 0;
    k<<<1, 64>>>(3);
    cudaDeviceSynchronize();
    for (int value : result) sum += value;
    printf("sum\n%d\n", sum);
    return 0;
}
