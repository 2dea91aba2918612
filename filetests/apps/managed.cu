// Managed memory: host and device take turns with the same pointers.

#include "check.h"

struct Node {
    int value;
    Node* next;
};

__managed__ int total;
__managed__ int bins[4] = {1, 2, 3, 4};

__global__ void sum_list(const Node* head)
{
    int sum = 0;
    for (const Node* node = head; node; node = node->next) sum += node->value;
    total = sum;
}

__global__ void bump(int* data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += bins[i & 3];
}

int main()
{
    const int n = 300;
    Node* nodes = nullptr;
    CHECK(cudaMallocManaged(&nodes, n * sizeof(Node)));
    int want = 0;
    for (int i = 0; i < n; ++i) {
        int at = (i * 7) % n;
        nodes[at] = {i * i, i + 1 < n ? &nodes[((i + 1) * 7) % n] : nullptr};
        want += i * i;
    }
    sum_list<<<1, 1>>>(nodes);
    CHECK(cudaDeviceSynchronize());
    expect("a list built by the host", total == want);
    nodes[0].value += 5;
    sum_list<<<1, 1>>>(nodes);
    CHECK(cudaDeviceSynchronize());
    expect("a change of the host is seen", total == want + 5);

    int* data = nullptr;
    CHECK(cudaMallocManaged(&data, n * sizeof(int)));
    for (int i = 0; i < n; ++i) data[i] = i;
    cudaMemLocation location = {cudaMemLocationTypeDevice, 0};
    CHECK(cudaMemAdvise(data, n * sizeof(int), cudaMemAdviseSetPreferredLocation, location));
    CHECK(cudaMemPrefetchAsync(data, n * sizeof(int), location, 0));
    for (int round = 0; round < 3; ++round) {
        bump<<<3, 100>>>(data, n);
        CHECK(cudaDeviceSynchronize());
        bins[round] *= 10;
        data[round] = 1000;
    }
    const int sums[4] = {1 + 10 + 10, 2 + 2 + 20, 3 * 3, 3 * 4};
    const int starts[3] = {1000 + 10 + 10, 1000 + 20, 1000};
    bool right = true;
    for (int i = 0; i < n; ++i) right &= data[i] == (i < 3 ? starts[i] : i + sums[i & 3]);
    expect("host and device take turns", right);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, data));
    expect("its attributes", attributes.type == cudaMemoryTypeManaged);
    CHECK(cudaFree(data));
    CHECK(cudaFree(nodes));
    return verdict();
}
