// Queries of the device: properties and attributes that agree, limits, versions, peers.

#include <cstring>

#include "check.h"

static int attribute(cudaDeviceAttr which)
{
    int value = -1;
    CHECK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

__global__ void where(unsigned* out)
{
    unsigned sm, warps;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(warps));
    out[0] = sm;
    out[1] = warps;
#ifdef __CUDA_ARCH__
    out[2] = __CUDA_ARCH__;
#endif
    out[3] = warpSize;
}

int main()
{
    int count = 0, device = -1;
    CHECK(cudaGetDeviceCount(&count));
    CHECK(cudaSetDevice(count - 1));
    CHECK(cudaGetDevice(&device));
    expect("a device", count >= 1 && device == count - 1);
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, device));
    expect("a name", std::strlen(properties.name) > 0);
    expect("threads", properties.maxThreadsPerBlock == attribute(cudaDevAttrMaxThreadsPerBlock) &&
                          properties.maxThreadsDim[2] == attribute(cudaDevAttrMaxBlockDimZ) &&
                          properties.maxGridSize[1] == attribute(cudaDevAttrMaxGridDimY));
    expect("multiprocessors", properties.multiProcessorCount == attribute(cudaDevAttrMultiProcessorCount));
    expect("capability", properties.major == attribute(cudaDevAttrComputeCapabilityMajor) &&
                             properties.minor == attribute(cudaDevAttrComputeCapabilityMinor));
    expect("shared memory", properties.sharedMemPerBlock == 48 << 10 &&
                                static_cast<int>(properties.sharedMemPerBlockOptin) ==
                                    attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    expect("addresses of both sides", properties.unifiedAddressing == 1 && properties.canMapHostMemory == 1);
    expect("cooperation", properties.cooperativeLaunch == attribute(cudaDevAttrCooperativeLaunch));

    size_t value = 0;
    CHECK(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 2 * value));
    size_t doubled = 0;
    CHECK(cudaDeviceGetLimit(&doubled, cudaLimitMallocHeapSize));
    expect("limits", value > 0 && doubled == 2 * value);
    int runtime = 0, driver = 0;
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaDriverGetVersion(&driver));
    expect("versions", runtime == CUDART_VERSION && driver >= runtime);
    int can = -1;
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 0));
    expect("a device is no peer of itself", can == 0);
    expect("peers that are not there", cudaDeviceEnablePeerAccess(count, 0) == cudaErrorInvalidDevice);
    char id[32] = "";
    int same = -1;
    CHECK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
    CHECK(cudaDeviceGetByPCIBusId(&same, id));
    expect("a place on the bus", same == 0);
    expect("flags", cudaSetDeviceFlags(cudaDeviceScheduleYield) == cudaSuccess);

    unsigned* out = upload(std::vector<unsigned>(4));
    where<<<1, 32>>>(out);
    std::vector<unsigned> found = download(out, 4);
    expect("what a kernel sees", static_cast<int>(found[0]) < properties.multiProcessorCount && found[1] > 0 &&
                                     static_cast<int>(found[2]) <= 10 * (10 * properties.major + properties.minor) + 100 &&
                                     found[3] == 32);
    CHECK(cudaDeviceReset());
    return verdict();
}
