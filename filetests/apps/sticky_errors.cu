// Errors of kernels: told by a later call, and then by every call.

#include "check.h"

__global__ void write(int* to, int value) { *to = value; }

int main()
{
    int* device = nullptr;
    int host = 0;
    CHECK(cudaMalloc(&device, sizeof(int)));
    write<<<1, 1>>>(device, 7);
    CHECK(cudaDeviceSynchronize());
    write<<<1, 1>>>(nullptr, 8);
    expect("a launch does not tell", cudaGetLastError() == cudaSuccess);
    expect("waiting does", cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    expect("copies fail", cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
    expect("nothing was copied", host == 0);
    void* more = nullptr;
    expect("allocations fail", cudaMalloc(&more, 4) == cudaErrorIllegalAddress);
    write<<<1, 1>>>(device, 9);
    expect("launches fail", cudaGetLastError() == cudaErrorIllegalAddress);
    expect("queries of the device do not", cudaGetDevice(&host) == cudaSuccess && host == 0);
    return verdict();
}
