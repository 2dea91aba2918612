// Many copies by one call, of lines and of boxes, and prefetches of managed memory.

#include "check.h"

int main()
{
    const int n = 256, bytes = n * sizeof(int);
    std::vector<int> in(n), back(n), corner(4 * 4);
    for (int i = 0; i < n; ++i) in[i] = i * 3;
    int *first = nullptr, *second = nullptr;
    CHECK(cudaMalloc(&first, bytes));
    CHECK(cudaMalloc(&second, bytes));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));

    void* to[] = {first, second};
    const void* from[] = {in.data(), in.data() + n / 2};
    size_t sizes[] = {size_t(bytes), size_t(bytes / 2)}, starts[] = {0};
    cudaMemcpyAttributes how = {};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, starts, 1, stream));
    CHECK(cudaStreamSynchronize(stream));
    expect("the first line", download(first, n) == in);
    expect("the second line", download(second, n / 2)[0] == in[n / 2]);

    // The first four elements of the first four rows of a square of 16.
    cudaMemcpy3DBatchOp part = {};
    part.src.type = part.dst.type = cudaMemcpyOperandTypePointer;
    part.src.op.ptr.ptr = first;
    part.src.op.ptr.rowLength = 16 * sizeof(int);
    part.dst.op.ptr.ptr = corner.data();
    part.extent = make_cudaExtent(4 * sizeof(int), 4, 1);
    part.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK(cudaMemcpy3DBatchAsync(1, &part, 0, stream));
    CHECK(cudaStreamSynchronize(stream));
    expect("a box", corner[0] == 0 && corner[5] == in[17] && corner[15] == in[51]);

    int* shared = nullptr;
    CHECK(cudaMallocManaged(&shared, bytes));
    for (int i = 0; i < n; ++i) shared[i] = i;
    void* ranges[] = {shared, shared + n / 2};
    size_t halves[] = {size_t(bytes / 2), size_t(bytes / 2)};
    cudaMemLocation place = {cudaMemLocationTypeHost, 0};
    CHECK(cudaMemPrefetchBatchAsync(ranges, halves, 2, &place, starts, 1, 0, stream));
    CHECK(cudaStreamSynchronize(stream));
    expect("what is prefetched stays", shared[n - 1] == n - 1);
    CHECK(cudaFree(shared));
    CHECK(cudaStreamDestroy(stream));
    return verdict();
}
