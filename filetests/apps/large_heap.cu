// A heap of device code that is larger than the device: no module that has one can be loaded.

#include "check.h"

__global__ void take(int* got)
{
    int* memory = static_cast<int*>(malloc(sizeof(int)));
    *got = memory != nullptr;
    free(memory);
}

int main()
{
    size_t heap = 0;
    int* got = nullptr;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t{1} << 40));
    CHECK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
    expect("the heap that was asked for", heap == size_t{1} << 40);
    CHECK(cudaMalloc(&got, sizeof *got));
    take<<<1, 1>>>(got);
    expect("its module cannot be loaded", cudaGetLastError() == cudaErrorSharedObjectInitFailed);
    expect("nothing else is wrong", cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaMemset(got, 0, sizeof *got));
    return verdict();
}
