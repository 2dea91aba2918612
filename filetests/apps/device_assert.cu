// Assertions in kernels: those that hold cost nothing, one that does not ends the kernel and everything after it.

#undef NDEBUG
#include <cassert>

#include "check.h"

__global__ void positive(const int* in, int* out)
{
    assert(in[threadIdx.x] > 0);
    out[threadIdx.x] = in[threadIdx.x] * 2;
}

int main()
{
    std::vector<int> in(32, 3);
    int* from = upload(in);
    int* to = upload(in);
    positive<<<1, 32>>>(from, to);
    CHECK(cudaDeviceSynchronize());
    expect("an assertion that holds", download(to, 32)[31] == 6);
    in[17] = -1;
    CHECK(cudaMemcpy(from, in.data(), 32 * sizeof(int), cudaMemcpyHostToDevice));
    positive<<<1, 32>>>(from, to);
    expect("one that does not", cudaDeviceSynchronize() == cudaErrorAssert);
    expect("stays", cudaMemcpy(in.data(), to, 4, cudaMemcpyDeviceToHost) == cudaErrorAssert);
    return verdict();
}
