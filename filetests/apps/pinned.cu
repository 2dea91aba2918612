// Page-locked memory of the host: allocated, mapped, registered, and used by kernels in place.

#include "check.h"

__global__ void scale(const float* in, float* out, int n, float by)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[i] * by;
}

static bool scaled(const float* out, int n, float by)
{
    bool right = true;
    for (int i = 0; i < n; ++i) right &= out[i] == static_cast<float>(i) * by;
    return right;
}

int main()
{
    const int n = 700;
    float *in = nullptr, *out = nullptr;
    CHECK(cudaMallocHost(&in, n * sizeof(float)));
    CHECK(cudaHostAlloc(&out, n * sizeof(float), cudaHostAllocMapped | cudaHostAllocPortable));
    for (int i = 0; i < n; ++i) in[i] = static_cast<float>(i);
    float* mapped = nullptr;
    CHECK(cudaHostGetDevicePointer(&mapped, out, 0));
    scale<<<2, 128>>>(in, mapped, n, 1.5f);
    CHECK(cudaDeviceSynchronize());
    expect("pinned memory in a kernel", scaled(out, n, 1.5f));

    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, out));
    expect("its attributes", attributes.type == cudaMemoryTypeHost && attributes.hostPointer == out);
    unsigned flags = 0;
    CHECK(cudaHostGetFlags(&flags, out));
    expect("its flags", (flags & cudaHostAllocMapped) != 0);

    std::vector<float> own(n);
    CHECK(cudaHostRegister(own.data(), n * sizeof(float), cudaHostRegisterMapped));
    float* seen = nullptr;
    CHECK(cudaHostGetDevicePointer(&seen, own.data(), 0));
    scale<<<1, 256>>>(in, seen, n, -2.0f);
    CHECK(cudaDeviceSynchronize());
    expect("registered memory", scaled(own.data(), n, -2.0f));
    expect("registered twice", cudaHostRegister(own.data(), 4, 0) == cudaErrorHostMemoryAlreadyRegistered);
    CHECK(cudaHostUnregister(own.data()));
    expect("no longer registered", cudaHostUnregister(own.data()) == cudaErrorHostMemoryNotRegistered);

    float* device = nullptr;
    CHECK(cudaMalloc(&device, n * sizeof(float)));
    CHECK(cudaMemcpy(device, in, n * sizeof(float), cudaMemcpyDefault));
    scale<<<1, 64>>>(device, device, n, 3.0f);
    CHECK(cudaMemcpy(out, device, n * sizeof(float), cudaMemcpyDefault));
    expect("directions found by addresses", scaled(out, n, 3.0f));
    CHECK(cudaPointerGetAttributes(&attributes, device));
    expect("memory of the device", attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == device);
    CHECK(cudaFreeHost(in));
    CHECK(cudaFreeHost(out));
    return verdict();
}
