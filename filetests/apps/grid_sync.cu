// A cooperative launch: all blocks of a grid wait for each other.

#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void diffuse(float* a, float* b, int n, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    for (int round = 0; round < rounds; ++round) {
        for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) {
            float left = i > 0 ? a[i - 1] : 0, right = i + 1 < n ? a[i + 1] : 0;
            b[i] = 0.25f * left + 0.5f * a[i] + 0.25f * right;
        }
        grid.sync();
        float* other = a;
        a = b;
        b = other;
    }
}

int main()
{
    int can = 0;
    CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
    expect("the device can", can == 1);
    int n = 600, rounds = 6;
    std::vector<float> in(n), next(n);
    for (int i = 0; i < n; ++i) in[i] = static_cast<float>((i * 17) % 256);
    float* a = upload(in);
    float* b = upload(in);
    void* args[] = {&a, &b, &n, &rounds};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(diffuse), dim3(4), dim3(128), args));
    CHECK(cudaDeviceSynchronize());
    std::vector<float> found = download(a, n);
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < n; ++i)
            next[i] = 0.25f * (i > 0 ? in[i - 1] : 0) + 0.5f * in[i] + 0.25f * (i + 1 < n ? in[i + 1] : 0);
        in.swap(next);
    }
    expect("blocks that wait for each other", found == in);
    cudaError_t large = cudaLaunchCooperativeKernel(reinterpret_cast<void*>(diffuse), dim3(1 << 20), dim3(128), args);
    expect("a grid that is too large", large == cudaErrorCooperativeLaunchTooLarge);
    return verdict();
}
