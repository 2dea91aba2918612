// Errors that pass: what misuse returns, what stays as the last error and until when, and their names.

#include <cstring>

#include "check.h"

__global__ void nothing() {}
__global__ void increment(int* value) { ++*value; }

static bool passes(cudaError_t error, cudaError_t want)
{
    return error == want && cudaPeekAtLastError() == want && cudaGetLastError() == want &&
           cudaGetLastError() == cudaSuccess;
}

int main()
{
    int* device = nullptr;
    int host = 41;
    CHECK(cudaMalloc(&device, sizeof(int)));
    CHECK(cudaMemcpy(device, &host, sizeof host, cudaMemcpyHostToDevice));
    expect("a null result", passes(cudaMalloc(static_cast<void**>(nullptr), 4), cudaErrorInvalidValue));
    void* huge = nullptr;
    expect("too much memory", passes(cudaMalloc(&huge, size_t{1} << 60), cudaErrorMemoryAllocation));
    expect("a pointer that was not allocated", passes(cudaFree(&host), cudaErrorInvalidValue));
    expect("a direction that is none",
           passes(cudaMemcpy(device, &host, 4, static_cast<cudaMemcpyKind>(9)), cudaErrorInvalidMemcpyDirection));
    expect("a copy beyond an allocation", passes(cudaMemcpy(device, &host, 1 << 20, cudaMemcpyHostToDevice), cudaErrorInvalidValue));
    expect("a device that is not there", passes(cudaSetDevice(7), cudaErrorInvalidDevice));
    expect("a symbol that is none", passes(cudaMemcpyToSymbol(&host, &host, 4), cudaErrorInvalidSymbol));

    nothing<<<1, 1025>>>();
    expect("a block that is too large", cudaPeekAtLastError() != cudaSuccess);
    cudaError_t bad = cudaGetLastError();
    expect("an invalid configuration", bad == cudaErrorInvalidConfiguration || bad == cudaErrorInvalidValue);
    nothing<<<0, 32>>>();
    expect("an empty grid", cudaGetLastError() == bad);
    nothing<<<1, 32, 1 << 20>>>();
    expect("shared memory that is not there", passes(cudaPeekAtLastError(), cudaErrorInvalidValue));

    increment<<<1, 1>>>(device);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
    expect("and all works as before", host == 42);
    expect("a name", std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    expect("a text", std::strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    expect("a number without a name",
           std::strcmp(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code") == 0);
    return verdict();
}
