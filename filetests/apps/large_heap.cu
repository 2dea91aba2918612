// A heap of device code that is asked for larger than any device: it becomes as large as the device can give.

#include "check.h"

__global__ void take(size_t bytes, int* got)
{
    char* memory = static_cast<char*>(malloc(bytes));
    if (memory) memory[0] = memory[bytes - 1] = 1;
    *got = memory != nullptr;
    free(memory);
}

static bool taken(size_t bytes, int* got)
{
    take<<<1, 1>>>(bytes, got);
    CHECK(cudaGetLastError());
    return download(got, 1)[0] != 0;
}

int main()
{
    size_t heap = 0, odd = 0, unused = 0, total = 0;
    int* got = nullptr;
    CHECK(cudaMemGetInfo(&unused, &total));
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, (1 << 20) + 1));
    CHECK(cudaDeviceGetLimit(&odd, cudaLimitMallocHeapSize));
    expect("rounded up to 64 KiB", odd == (1 << 20) + (64 << 10));
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t{1} << 40));
    CHECK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
    expect("less than all memory", heap > size_t{1} << 30 && heap < total);
    CHECK(cudaMalloc(&got, sizeof *got));
    expect("a little of it", taken(64, got));
    expect("most of it at once", taken(heap - (size_t{512} << 20), got));
    expect("not more than there is", !taken(heap + 1, got));
    expect("too late for another heap", cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20) == cudaErrorInvalidValue);
    CHECK(cudaDeviceGetLimit(&odd, cudaLimitMallocHeapSize));
    expect("still the same", odd == heap);
    cudaGetLastError();
    return verdict();
}
