// A heap of device code for which the application has left no room: no module that has one can be loaded.

#include "check.h"

__global__ void take(int* got)
{
    int* memory = static_cast<int*>(malloc(sizeof(int)));
    *got = memory != nullptr;
    free(memory);
}

int main()
{
    size_t unused = 0, total = 0;
    int *got = nullptr, *rest = nullptr;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t{1} << 30));
    CHECK(cudaMemGetInfo(&unused, &total));
    CHECK(cudaMalloc(&rest, unused - (size_t{512} << 20)));
    CHECK(cudaMalloc(&got, sizeof *got));
    take<<<1, 1>>>(got);
    expect("its module cannot be loaded", cudaGetLastError() == cudaErrorSharedObjectInitFailed);
    expect("nothing else is wrong", cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaMemset(got, 0, sizeof *got));
    return verdict();
}
