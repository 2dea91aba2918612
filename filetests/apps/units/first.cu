// A unit with a variable that has the name of another unit's.

#include <cuda_runtime.h>

static __device__ int offset = 17;
static __constant__ int factor = 3;

static __global__ void kernel(int* value) { *value = *value * factor + offset; }

int run_first(int value)
{
    int* device = nullptr;
    cudaMalloc(&device, sizeof value);
    cudaMemcpy(device, &value, sizeof value, cudaMemcpyHostToDevice);
    kernel<<<1, 1>>>(device);
    cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost);
    cudaFree(device);
    return value;
}
