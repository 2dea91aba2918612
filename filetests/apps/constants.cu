// Constant and global variables, named by their shadows: copies to and from them, their addresses and sizes.

#include "check.h"

struct Filter {
    float taps[5];
    int center;
};

__constant__ Filter filter;
__constant__ int scale = 3;
__device__ float gains[4] = {1.0f, 2.0f, 4.0f, 8.0f};
__device__ int launches;

__global__ void convolve(const float* in, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) ++launches;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < 5; ++k) {
        int at = i + k - filter.center;
        if (at >= 0 && at < n) sum += filter.taps[k] * in[at];
    }
    out[i] = sum * scale * gains[i & 3];
}

int main()
{
    const int n = 500;
    const Filter host = {{0.25f, 0.5f, 1.0f, 0.5f, 0.25f}, 2};
    CHECK(cudaMemcpyToSymbol(filter, &host, sizeof host));
    const float louder[2] = {16.0f, 32.0f};
    CHECK(cudaMemcpyToSymbol(gains, louder, sizeof louder, 2 * sizeof(float)));

    std::vector<float> in(n);
    for (int i = 0; i < n; ++i) in[i] = static_cast<float>((i * 37) % 64);
    float* from = upload(in);
    float* to = upload(std::vector<float>(n));
    for (int round = 0; round < 2; ++round) convolve<<<(n + 127) / 128, 128>>>(from, to, n);
    std::vector<float> out = download(to, n);
    const float gain[4] = {1.0f, 2.0f, 16.0f, 32.0f};
    bool right = true;
    for (int i = 0; i < n; ++i) {
        float sum = 0;
        for (int k = 0; k < 5; ++k)
            if (i + k - 2 >= 0 && i + k - 2 < n) sum += host.taps[k] * in[i + k - 2];
        right &= out[i] == sum * 3 * gain[i & 3];
    }
    expect("a filter in constant memory", right);

    int count = 0;
    CHECK(cudaMemcpyFromSymbol(&count, launches, sizeof count));
    expect("a global counter", count == 2);
    void* address = nullptr;
    size_t size = 0;
    CHECK(cudaGetSymbolAddress(&address, gains));
    CHECK(cudaGetSymbolSize(&size, gains));
    float last = 0;
    CHECK(cudaMemcpy(&last, static_cast<float*>(address) + 3, sizeof last, cudaMemcpyDeviceToHost));
    expect("address and size of a variable", last == 32.0f && size == sizeof(float) * 4);
    expect("a copy beyond a variable", cudaMemcpyToSymbol(gains, louder, 8, 12) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyToSymbol(scale, &count, sizeof count));
    int changed = 0;
    CHECK(cudaMemcpyFromSymbol(&changed, scale, sizeof changed));
    expect("a constant that changes", changed == 2);
    return verdict();
}
