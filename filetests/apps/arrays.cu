// CUDA arrays: what they are made of, and copies to, from and between them, of lines, planes and boxes.

#include "check.h"

int main()
{
    const int width = 30, height = 20, row = width * sizeof(float2);
    std::vector<float2> image(width * height), result(width * height);
    for (int i = 0; i < width * height; ++i) image[i] = make_float2(i, 0.5f * i);
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float2>(), found;
    cudaArray_t plane = nullptr, other = nullptr;
    CHECK(cudaMallocArray(&plane, &channel, width, height));
    CHECK(cudaMallocArray(&other, &channel, width, height));
    CHECK(cudaGetChannelDesc(&found, plane));
    cudaExtent extent;
    unsigned flags = 1;
    CHECK(cudaArrayGetInfo(&found, &extent, &flags, plane));
    expect("channels", found.x == 32 && found.y == 32 && found.z == 0 && found.f == cudaChannelFormatKindFloat);
    expect("extents", extent.width == width && extent.height == height && extent.depth == 0 && flags == 0);

    CHECK(cudaMemcpy2DToArray(plane, 0, 0, image.data(), row, row, height, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DArrayToArray(other, 0, 0, plane, 0, 0, row, height, cudaMemcpyDeviceToDevice));
    // A part of it, one element to the right and two rows down.
    CHECK(cudaMemcpy2DFromArray(result.data(), row, other, sizeof(float2), 2, 10 * sizeof(float2), 5, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int y = 0; y < 5; ++y)
        for (int x = 0; x < 10; ++x) right &= result[y * width + x].y == image[(y + 2) * width + x + 1].y;
    expect("planes", right);
    float2* device = upload(result);
    CHECK(cudaMemcpy2DFromArray(device, row, other, 0, 0, row, height, cudaMemcpyDeviceToDevice));
    expect("to memory of the device", download(device, width * height)[599].x == 599);
    cudaError_t outside = cudaMemcpy2DToArray(plane, 8, 0, image.data(), row, row, height, cudaMemcpyHostToDevice);
    expect("beyond an array", outside == cudaErrorInvalidValue);

    cudaChannelFormatDesc shorts = cudaCreateChannelDesc<short>();
    cudaArray_t box = nullptr;
    CHECK(cudaMalloc3DArray(&box, &shorts, make_cudaExtent(8, 6, 4)));
    std::vector<short> in(8 * 6 * 4), out(8 * 6 * 4, -1);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<short>(i * 3);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(in.data(), 8 * sizeof(short), 8, 6);
    copy.dstArray = box;
    copy.extent = make_cudaExtent(8, 6, 4);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    copy = {};
    copy.srcArray = box;
    copy.srcPos = make_cudaPos(2, 1, 1);
    copy.dstPtr = make_cudaPitchedPtr(out.data(), 8 * sizeof(short), 8, 6);
    copy.extent = make_cudaExtent(5, 4, 3);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    right = true;
    for (int z = 0; z < 4; ++z)
        for (int y = 0; y < 6; ++y)
            for (int x = 0; x < 8; ++x) {
                bool inside = x < 5 && y < 4 && z < 3;
                int want = inside ? in[((z + 1) * 6 + y + 1) * 8 + x + 2] : -1;
                right &= out[(z * 6 + y) * 8 + x] == want;
            }
    expect("boxes", right);
    cudaChannelFormatDesc odd = {24, 0, 0, 0, cudaChannelFormatKindSigned};
    expect("channels that are none", cudaMallocArray(&other, &odd, 4, 4) != cudaSuccess);
    CHECK(cudaFreeArray(plane));
    CHECK(cudaFreeArray(box));
    return verdict();
}
