// Limits of the device: what they are, setting them, and a heap of device code as large as it was asked for.

#include "check.h"

__global__ void take(size_t bytes, int* got)
{
    char* memory = static_cast<char*>(malloc(bytes));
    if (memory) memory[bytes - 1] = 1;
    *got = memory != nullptr;
    free(memory);
}

static bool taken(size_t bytes, int* got)
{
    take<<<1, 1>>>(bytes, got);
    return download(got, 1)[0] != 0;
}

int main()
{
    size_t stack = 0, heap = 0, fifo = 0, other = 0;
    CHECK(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
    CHECK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
    CHECK(cudaDeviceGetLimit(&fifo, cudaLimitPrintfFifoSize));
    expect("a stack", stack >= 1024);
    expect("a heap of 8 MiB", heap == 8 << 20);
    expect("room for printf", fifo >= 1 << 20);
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    CHECK(cudaDeviceGetLimit(&other, cudaLimitStackSize));
    expect("a larger stack", other >= 4096);
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    CHECK(cudaDeviceGetLimit(&other, cudaLimitMallocHeapSize));
    expect("a larger heap", other >= 64 << 20);

    int* got = nullptr;
    CHECK(cudaMalloc(&got, sizeof *got));
    expect("more than the heap was", taken(32 << 20, got));
    expect("again, because it was freed", taken(32 << 20, got));
    expect("more than the heap is", !taken(1024 << 20, got));
    expect("too late for another heap", cudaDeviceSetLimit(cudaLimitMallocHeapSize, 128 << 20) != cudaSuccess);
    cudaGetLastError();
    expect("no such limit", cudaDeviceGetLimit(&other, static_cast<cudaLimit>(99)) != cudaSuccess);
    cudaGetLastError();
    return verdict();
}
