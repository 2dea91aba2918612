// Memory with pitch: planes and boxes are allocated, filled, copied in part, and used.

#include "check.h"

__global__ void negate(float* plane, size_t pitch, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float* row = reinterpret_cast<float*>(reinterpret_cast<char*>(plane) + y * pitch);
    row[x] = -row[x];
}

__global__ void mark(cudaPitchedPtr box, int width, int height, int depth)
{
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    if (x >= width || y >= height || z >= depth) return;
    char* slice = static_cast<char*>(box.ptr) + z * box.pitch * box.ysize;
    reinterpret_cast<int*>(slice + y * box.pitch)[x] += 100 * z + 10 * y + x;
}

static void planes()
{
    const int width = 50, height = 37;
    std::vector<float> image(width * height), result(width * height, 0.0f);
    for (int i = 0; i < width * height; ++i) image[i] = 0.5f * static_cast<float>(i);
    const size_t row = width * sizeof(float);
    float* plane = nullptr;
    size_t pitch = 0;
    CHECK(cudaMallocPitch(&plane, &pitch, row, height));
    expect("a pitch", pitch >= row && pitch % 32 == 0);
    CHECK(cudaMemcpy2D(plane, pitch, image.data(), row, row, height, cudaMemcpyHostToDevice));
    negate<<<dim3(4, 5), dim3(16, 8)>>>(plane, pitch, width, height);
    CHECK(cudaMemset2D(plane, pitch, 0, 10 * sizeof(float), 5));
    CHECK(cudaMemcpy2D(result.data(), row, plane, pitch, row, height, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            right &= result[y * width + x] == (x < 10 && y < 5 ? 0.0f : -image[y * width + x]);
    expect("a plane", right);
    cudaError_t narrow = cudaMemcpy2D(plane, row - 4, image.data(), row, row, height, cudaMemcpyHostToDevice);
    expect("a pitch that is too small", narrow == cudaErrorInvalidPitchValue);
    CHECK(cudaFree(plane));
}

static void boxes()
{
    const int width = 12, height = 9, depth = 4;
    cudaExtent extent = make_cudaExtent(width * sizeof(int), height, depth);
    cudaPitchedPtr box;
    CHECK(cudaMalloc3D(&box, extent));
    CHECK(cudaMemset3D(box, 0, extent));
    mark<<<depth, dim3(16, 16)>>>(box, width, height, depth);
    // The inner part, into the middle of a larger box of the host.
    std::vector<int> host(20 * 10 * 5, -1);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = box;
    copy.srcPos = make_cudaPos(2 * sizeof(int), 1, 1);
    copy.dstPtr = make_cudaPitchedPtr(host.data(), 20 * sizeof(int), 20, 10);
    copy.dstPos = make_cudaPos(5 * sizeof(int), 3, 2);
    copy.extent = make_cudaExtent(8 * sizeof(int), 6, 3);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    bool right = true;
    for (int z = 0; z < 5; ++z)
        for (int y = 0; y < 10; ++y)
            for (int x = 0; x < 20; ++x) {
                bool inside = x >= 5 && x < 13 && y >= 3 && y < 9 && z >= 2;
                int want = inside ? 100 * (z - 1) + 10 * (y - 2) + x - 3 : -1;
                right &= host[(z * 10 + y) * 20 + x] == want;
            }
    expect("a part of a box", right);
    CHECK(cudaFree(box.ptr));
}

int main()
{
    planes();
    boxes();
    return verdict();
}
