// A unit whose kernel has the name of another unit's and does something else.

#include <cuda_runtime.h>

static __global__ void kernel(int* value) { *value -= 5; }

int run_second(int value)
{
    int* device = nullptr;
    cudaMallocManaged(&device, sizeof value);
    *device = value;
    kernel<<<1, 1>>>(device);
    cudaDeviceSynchronize();
    value = *device;
    cudaFree(device);
    return value;
}
