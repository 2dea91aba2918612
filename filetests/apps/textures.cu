// Texture objects: linear memory, pitched planes and arrays; nearest and interpolated; edges and normalized reads.

#include <cmath>

#include "check.h"

__global__ void fetch(cudaTextureObject_t texture, float* out, int n)
{
    int i = threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float>(texture, n - 1 - i);
}

__global__ void sample(cudaTextureObject_t texture, float* out, int width, float step, float start)
{
    int x = threadIdx.x, y = threadIdx.y;
    out[y * width + x] = tex2D<float>(texture, start + step * static_cast<float>(x), start + step * static_cast<float>(y));
}

static cudaTextureObject_t make(const cudaResourceDesc& resource, cudaTextureFilterMode filter, cudaTextureAddressMode edge)
{
    cudaTextureDesc description = {};
    description.addressMode[0] = description.addressMode[1] = edge;
    description.filterMode = filter;
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    return texture;
}

int main()
{
    const int width = 16, height = 16, n = width * height;
    std::vector<float> image(n);
    for (int i = 0; i < n; ++i) image[i] = static_cast<float>((i * 37) % 64);
    float* out = upload(std::vector<float>(n));

    float* line = upload(image);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = line;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = n * sizeof(float);
    cudaTextureObject_t texture = make(resource, cudaFilterModePoint, cudaAddressModeClamp);
    fetch<<<1, n>>>(texture, out, n);
    CHECK(cudaDeviceSynchronize());
    std::vector<float> found = download(out, n);
    bool right = true;
    for (int i = 0; i < n; ++i) right &= found[i] == image[n - 1 - i];
    expect("linear memory", right);
    CHECK(cudaDestroyTextureObject(texture));

    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr;
    CHECK(cudaMallocArray(&array, &channel, width, height));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    texture = make(resource, cudaFilterModePoint, cudaAddressModeClamp);
    sample<<<1, dim3(width, height)>>>(texture, out, width, 1.5f, -2.0f);
    CHECK(cudaDeviceSynchronize());
    found = download(out, n);
    right = true;
    auto at = [&](int x, int y) {
        auto clamp = [](int v) { return v < 0 ? 0 : v > 15 ? 15 : v; };
        return image[clamp(y) * width + clamp(x)];
    };
    for (int i = 0; i < n; ++i) {
        float x = -2.0f + 1.5f * static_cast<float>(i % width), y = -2.0f + 1.5f * static_cast<float>(i / width);
        right &= found[i] == at(static_cast<int>(std::floor(x)), static_cast<int>(std::floor(y)));
    }
    expect("the nearest element of an array", right);
    CHECK(cudaDestroyTextureObject(texture));

    texture = make(resource, cudaFilterModeLinear, cudaAddressModeBorder);
    sample<<<1, dim3(width, height)>>>(texture, out, width, 1.0f, 0.75f);
    CHECK(cudaDeviceSynchronize());
    found = download(out, n);
    right = true;
    auto inside = [&](int x, int y) { return x > 15 || y > 15 ? 0.0f : image[y * width + x]; };
    for (int i = 0; i < n; ++i) {
        int x = i % width, y = i / width;
        float top = 0.75f * inside(x, y) + 0.25f * inside(x + 1, y);
        float bottom = 0.75f * inside(x, y + 1) + 0.25f * inside(x + 1, y + 1);
        right &= std::fabs(found[i] - (0.75f * top + 0.25f * bottom)) < 1e-3f;
    }
    expect("interpolation with a border", right);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    return verdict();
}
