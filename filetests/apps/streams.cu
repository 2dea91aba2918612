// Streams and events: work in several streams, dependencies between them, times, and functions of the host.

#include "check.h"

__global__ void add(int* data, int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += by;
}

__global__ void combine(const int* a, const int* b, int* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * a[i] - b[i];
}

int main()
{
    const int n = 1024, bytes = n * sizeof(int);
    cudaStream_t first, second;
    int least = 0, greatest = 0;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithPriority(&second, cudaStreamDefault, greatest));
    int *host = nullptr, *a = nullptr, *b = nullptr, *out = nullptr;
    CHECK(cudaMallocHost(&host, 3 * bytes));
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMalloc(&out, bytes));
    for (int i = 0; i < n; ++i) {
        host[i] = i;
        host[n + i] = 7 * i;
    }

    cudaEvent_t start, ready, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, first));
    CHECK(cudaMemcpyAsync(a, host, bytes, cudaMemcpyHostToDevice, first));
    CHECK(cudaMemcpyAsync(b, host + n, bytes, cudaMemcpyHostToDevice, second));
    add<<<n / 128, 128, 0, first>>>(a, n, 10);
    add<<<n / 128, 128, 0, second>>>(b, n, -3);
    CHECK(cudaEventRecord(ready, second));
    CHECK(cudaStreamWaitEvent(first, ready, 0));
    combine<<<n / 128, 128, 0, first>>>(a, b, out, n);
    CHECK(cudaMemcpyAsync(host + 2 * n, out, bytes, cudaMemcpyDeviceToHost, first));
    CHECK(cudaEventRecord(stop, first));
    CHECK(cudaEventSynchronize(stop));
    bool right = true;
    for (int i = 0; i < n; ++i) right &= host[2 * n + i] == 2 * (i + 10) - (7 * i - 3);
    expect("two streams and an event", right);

    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    expect("time passes", milliseconds > 0);
    expect("an event without times", cudaEventElapsedTime(&milliseconds, ready, stop) == cudaErrorInvalidResourceHandle);
    expect("which is the last error", cudaGetLastError() == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamSynchronize(second));
    expect("idle streams", cudaStreamQuery(first) == cudaSuccess && cudaEventQuery(stop) == cudaSuccess);
    unsigned flags = 0;
    int priority = 0;
    CHECK(cudaStreamGetFlags(first, &flags));
    CHECK(cudaStreamGetPriority(second, &priority));
    expect("flags and priorities", flags == cudaStreamNonBlocking && priority == greatest && greatest <= least);
    CHECK(cudaMemsetAsync(out, 0xff, bytes, second));
    CHECK(cudaMemcpyAsync(a, out, bytes, cudaMemcpyDeviceToDevice, second));
    CHECK(cudaStreamSynchronize(second));
    expect("asynchronous fills", download(a, n)[n - 1] == -1);
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(ready));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaFreeHost(host));
    return verdict();
}
