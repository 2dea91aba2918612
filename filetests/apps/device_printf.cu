// Printing from kernels: conversions, texts, and the order in which a single thread prints.

#include "check.h"

__global__ void speak(int n)
{
    for (int i = 0; i < n; ++i) printf("line %d of %s: %5.2f|%-6x|%lld\n", i, "three", i * 1.25, 255 * i, -5000000000ll * i);
}

__global__ void roll_call() { printf("%c%03u%%\n", 'a' + threadIdx.x % 26, threadIdx.x); }

int main()
{
    speak<<<1, 1>>>(3);
    CHECK(cudaDeviceSynchronize());
    roll_call<<<1, 4>>>();
    CHECK(cudaDeviceSynchronize());
    size_t bytes = 0;
    CHECK(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
    expect("a buffer for it", bytes >= 1 << 20);
    return verdict();
}
