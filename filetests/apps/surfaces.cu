// Surface objects: kernels read and write arrays in place.

#include "check.h"

__global__ void invert(cudaSurfaceObject_t surface, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    uchar4 pixel;
    surf2Dread(&pixel, surface, x * static_cast<int>(sizeof(uchar4)), y);
    surf2Dwrite(make_uchar4(255 - pixel.x, pixel.y ^ 1, pixel.w, pixel.z), surface, x * static_cast<int>(sizeof(uchar4)), y);
}

int main()
{
    const int width = 20, height = 11, row = width * sizeof(uchar4);
    std::vector<uchar4> image(width * height), result(width * height);
    for (int i = 0; i < width * height; ++i) image[i] = make_uchar4(i, i * 3, i * 5, i * 7);
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<uchar4>();
    cudaArray_t array = nullptr;
    CHECK(cudaMallocArray(&array, &channel, width, height, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), row, row, height, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface = 0;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    invert<<<dim3(2, 2), dim3(16, 8)>>>(surface, width, height);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy2DFromArray(result.data(), row, array, 0, 0, row, height, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < width * height; ++i) {
        uchar4 a = image[i], b = result[i];
        right &= b.x == 255 - a.x && b.y == (a.y ^ 1) && b.z == a.w && b.w == a.z;
    }
    expect("pixels in place", right);
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
    return verdict();
}
