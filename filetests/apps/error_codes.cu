// Which error each misuse gets, that it is remembered once, and that nothing else goes wrong after it.

#include "check.h"

__global__ void write(int* to) { *to = 1; }

static int unknown;

static void is(const char* what, cudaError_t error, cudaError_t expected)
{
    expect(what, error == expected && cudaGetLastError() == expected && cudaGetLastError() == cudaSuccess);
}

int main()
{
    int *data = nullptr, host = 5;
    CHECK(cudaMalloc(&data, 64));
    is("free what was never allocated", cudaFree(reinterpret_cast<void*>(64)), cudaErrorInvalidValue);
    is("allocate all there could be", cudaMalloc(&data + 0, size_t(1) << 60), cudaErrorMemoryAllocation);
    CHECK(cudaMalloc(&data, 64));
    is("copy in no direction", cudaMemcpy(data, &host, 4, static_cast<cudaMemcpyKind>(9)),
        cudaErrorInvalidMemcpyDirection);
    is("a symbol that is none", cudaMemcpyToSymbol(unknown, &host, 4), cudaErrorInvalidSymbol);
    is("a device that is none", cudaSetDevice(77), cudaErrorInvalidDevice);
    is("a pitch below the width", cudaMemcpy2D(data, 4, &host, 4, 8, 2, cudaMemcpyHostToDevice),
        cudaErrorInvalidPitchValue);
    write<<<1, 2048>>>(data);
    cudaError_t large = cudaGetLastError();
    expect("too many threads", large == cudaErrorInvalidConfiguration || large == cudaErrorInvalidValue);
    write<<<1, 1, 1 << 20>>>(data);
    expect("too much shared memory", cudaGetLastError() == cudaErrorInvalidValue);
    is("no result wanted", cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
    is("peek and get are the same", cudaErrorInvalidValue == cudaStreamCreateWithFlags(nullptr, 0)
        ? cudaPeekAtLastError() : cudaSuccess, cudaErrorInvalidValue);
    write<<<1, 1>>>(data);
    expect("nothing else is wrong", cudaDeviceSynchronize() == cudaSuccess && download(data, 1)[0] == 1);
    return verdict();
}
