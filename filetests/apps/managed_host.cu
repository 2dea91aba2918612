// Managed memory that host and device use in turn, with advice and prefetches, and what is known of them.

#include "check.h"

__global__ void add(int* data, int n, int what)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += what;
}

__managed__ int total = 40;

__global__ void count(const int* data, int n)
{
    for (int i = 0; i < n; ++i) total += data[i] > 0;
}

int main()
{
    const int n = 1 << 14, bytes = n * sizeof(int);
    int* data = nullptr;
    CHECK(cudaMallocManaged(&data, bytes));
    for (int i = 0; i < n; ++i) data[i] = -i;
    const cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
    CHECK(cudaMemAdvise(data, bytes, cudaMemAdviseSetPreferredLocation, device));
    CHECK(cudaMemAdvise(data, bytes, cudaMemAdviseSetAccessedBy, host));
    CHECK(cudaMemPrefetchAsync(data, bytes, device, 0, nullptr));
    bool right = true;
    for (int round = 1; round <= 3; ++round) {
        add<<<n / 256, 256>>>(data, n, 10);
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < n; ++i) right &= data[i] == 11 * round - 1 - i;
        for (int i = 0; i < n; ++i) data[i] += 1;
    }
    expect("both write in turn", right);

    int mostly = -1, preferred = -5, last = -5, by[2] = {-5, -5};
    CHECK(cudaMemRangeGetAttribute(&mostly, 4, cudaMemRangeAttributeReadMostly, data, bytes));
    CHECK(cudaMemRangeGetAttribute(&preferred, 4, cudaMemRangeAttributePreferredLocation, data, bytes));
    CHECK(cudaMemRangeGetAttribute(by, sizeof by, cudaMemRangeAttributeAccessedBy, data, bytes));
    expect("what was advised", mostly == 0 && preferred == 0 && by[0] == cudaCpuDeviceId && by[1] == cudaInvalidDeviceId);
    CHECK(cudaMemPrefetchAsync(data, bytes, host, 0, nullptr));
    CHECK(cudaMemAdvise(data, bytes, cudaMemAdviseSetReadMostly, device));
    void* results[] = {&mostly, &last};
    size_t rooms[] = {4, 4};
    cudaMemRangeAttribute asked[] = {cudaMemRangeAttributeReadMostly, cudaMemRangeAttributeLastPrefetchLocation};
    CHECK(cudaMemRangeGetAttributes(results, rooms, asked, 2, data, bytes));
    expect("two answers at once", mostly == 1 && last == cudaCpuDeviceId);
    CHECK(cudaDeviceSynchronize());
    expect("nothing was lost", data[n - 1] == 33 - (n - 1));

    total += 2;
    count<<<1, 1>>>(data, n);
    CHECK(cudaDeviceSynchronize());
    expect("a managed variable", total == 42 + 33);
    CHECK(cudaFree(data));
    return verdict();
}
