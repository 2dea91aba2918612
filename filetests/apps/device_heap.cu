// Memory that kernels allocate: malloc and free, new and delete, a list that lives between launches.

#include "check.h"

struct Node {
    int value;
    Node* next;
};

__device__ Node* lists[32];

__global__ void build(int length)
{
    Node* head = nullptr;
    for (int i = 0; i < length + static_cast<int>(threadIdx.x); ++i) head = new Node{i * i, head};
    lists[threadIdx.x] = head;
}

__global__ void sum_and_delete(int* sums)
{
    int sum = 0;
    for (Node* node = lists[threadIdx.x]; node;) {
        Node* next = node->next;
        sum += node->value;
        delete node;
        node = next;
    }
    sums[threadIdx.x] = sum;
}

__global__ void scratch(int* out, int n)
{
    int* mine = static_cast<int*>(malloc(n * sizeof(int)));
    if (!mine) {
        out[threadIdx.x] = -1;
        return;
    }
    for (int i = 0; i < n; ++i) mine[i] = i ^ threadIdx.x;
    int sum = 0;
    for (int i = n - 1; i >= 0; --i) sum = sum * 3 + mine[i];
    free(mine);
    out[threadIdx.x] = sum;
}

int main()
{
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4 << 20));
    int* device = upload(std::vector<int>(32));
    build<<<1, 32>>>(5);
    sum_and_delete<<<1, 32>>>(device);
    CHECK(cudaDeviceSynchronize());
    std::vector<int> found = download(device, 32);
    bool right = true;
    for (int t = 0; t < 32; ++t) {
        int want = 0;
        for (int i = 0; i < 5 + t; ++i) want += i * i;
        right &= found[t] == want;
    }
    expect("lists that live between launches", right);
    scratch<<<1, 32>>>(device, 12);
    CHECK(cudaDeviceSynchronize());
    found = download(device, 32);
    right = true;
    for (int t = 0; t < 32; ++t) {
        int want = 0;
        for (int i = 11; i >= 0; --i) want = want * 3 + (i ^ t);
        right &= found[t] == want;
    }
    expect("scratch memory", right);
    return verdict();
}
