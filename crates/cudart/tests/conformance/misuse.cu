// What CUDA says when it is misused: every call prints the name of the error it returns. `h200-cuda-13.txt` and
// `h200-cuda-12.txt` hold what this prints on an NVIDIA H200 (driver 580.159.04) with libcudart 13.0 and 12.9, section by
// section; `tests/it/conformance.rs` compares our runtime with it.
//
//     nvcc -O1 -arch=sm_80 -cudart shared misuse.cu -o misuse && ./misuse memory
//
// The first argument says what to do: `memory`, `streams`, `launches` (calls, one after the other), or one of the faults of
// kernels below, each of which takes the context with it.

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define P(call)                                                  \
    do {                                                         \
        cudaError_t error = (call);                              \
        printf("%-90.90s %s\n", #call, cudaGetErrorName(error)); \
    } while (0)

__device__ int var = 5;
__device__ int big[1000];
__constant__ float table[16];
__managed__ int managed = 42;

__global__ void add(int* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += i + var;
}

__global__ void __launch_bounds__(128) bounded(int* a) { a[0] = 1; }

__global__ void dyn(int* a, int n) {
    extern __shared__ int s[];
    s[threadIdx.x % 8] = threadIdx.x;
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x % 8];
}

__global__ void stat(int* a) {
    __shared__ int s[10000];
    for (int i = threadIdx.x; i < 10000; i += blockDim.x) s[i] = i;
    __syncthreads();
    a[threadIdx.x] = s[9999 - threadIdx.x];
}

__global__ void useman(int* p) {
    managed += 1;
    p[0] += 10;
}

__global__ void many(int* a, double b, char c, float4 d, short e) { a[0] = (int)(b + c + d.x + d.w + e); }

static void memory() {
    int *d = nullptr, *d2 = nullptr;
    int h[1024];
    memset(h, 0, sizeof h);
    P(cudaMalloc(&d, 0));
    printf("null %d\n", d == nullptr);
    P(cudaMalloc(&d, 4096));
    P(cudaMalloc(&d2, 4096));
    P(cudaMalloc((int**)nullptr, 4));
    P(cudaMalloc(&d, 1ull << 60));
    P(cudaGetLastError());
    P(cudaGetLastError());
    P(cudaMalloc(&d, 4096));
    printf("aligned %d\n", ((size_t)d & 511) == 0);
    P(cudaFree(nullptr));
    P(cudaFree((char*)d + 4));
    P(cudaFree(h));
    P(cudaFree((void*)16));
    int* hp = (int*)malloc(65536);
    memset(hp, 0, 65536);
    P(cudaMemcpy(d, h, 4096, cudaMemcpyHostToDevice));
    P(cudaMemcpy(d, h, 4097, cudaMemcpyHostToDevice));
    P(cudaMemcpy(d, hp, 8192, cudaMemcpyHostToDevice));
    P(cudaMemcpy(d, hp, 65536, cudaMemcpyHostToDevice));
    P(cudaMemcpy(h, d, 4096, cudaMemcpyDeviceToHost));
    P(cudaMemcpy(hp, d, 65536, cudaMemcpyDeviceToHost));
    P(cudaMemcpy(d, d2, 4096, cudaMemcpyDeviceToDevice));
    P(cudaMemcpy(d, d2, 4096, cudaMemcpyDefault));
    P(cudaMemcpy(d, h, 4096, cudaMemcpyDefault));
    P(cudaMemcpy(h, d, 4096, cudaMemcpyDefault));
    P(cudaMemcpy(h, hp, 4096, cudaMemcpyDefault));
    P(cudaMemcpy(h, hp, 4096, cudaMemcpyHostToHost));
    P(cudaMemcpy(d, h, 4096, cudaMemcpyDeviceToHost));
    P(cudaMemcpy(h, d, 4096, cudaMemcpyHostToDevice));
    P(cudaMemcpy(d, d2, 4096, cudaMemcpyHostToDevice));
    P(cudaMemcpy(d, d2, 4096, cudaMemcpyDeviceToHost));
    P(cudaMemcpy(h, hp, 4096, cudaMemcpyHostToDevice));
    P(cudaMemcpy(h, hp, 4096, cudaMemcpyDeviceToDevice));
    P(cudaMemcpy(d, h, 4096, cudaMemcpyDeviceToDevice));
    P(cudaMemcpy(h, d, 4096, cudaMemcpyDeviceToDevice));
    P(cudaMemcpy(d, h, 4096, (cudaMemcpyKind)5));
    P(cudaMemcpy(d, h, 4096, (cudaMemcpyKind)-1));
    P(cudaMemcpy(nullptr, h, 4, cudaMemcpyHostToDevice));
    P(cudaMemcpy(d, nullptr, 4, cudaMemcpyHostToDevice));
    P(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
    P(cudaMemcpy(h, nullptr, 4, cudaMemcpyDeviceToHost));
    P(cudaMemcpy(d, h, 0, (cudaMemcpyKind)9));
    P(cudaMemset(d, 1, 4096));
    P(cudaMemset(d, 1, 65536));
    P(cudaMemset(nullptr, 1, 4));
    P(cudaMemset(nullptr, 1, 0));
    P(cudaMemset(h, 1, 4));
    P(cudaMemset(d, 1, 8192));
    P(cudaMemcpyAsync(d, h, 4096, cudaMemcpyHostToDevice, (cudaStream_t)1));
    P(cudaMemcpyAsync(d, h, 4096, cudaMemcpyHostToDevice, (cudaStream_t)2));
    P(cudaDeviceSynchronize());
    size_t pitch = 0;
    P(cudaMallocPitch(&d, &pitch, 100, 10));
    printf("pitch %zu\n", pitch);
    P(cudaMallocPitch(&d, &pitch, 513, 10));
    printf("pitch %zu\n", pitch);
    P(cudaMallocPitch(&d, &pitch, 0, 10));
    P(cudaMallocPitch(&d, &pitch, 100, 0));
    P(cudaMallocPitch(&d, &pitch, 100, 10));
    P(cudaMemcpy2D(d, pitch, h, 100, 100, 10, cudaMemcpyHostToDevice));
    P(cudaMemcpy2D(d, 99, h, 100, 100, 10, cudaMemcpyHostToDevice));
    P(cudaMemcpy2D(d, pitch, h, 99, 100, 10, cudaMemcpyHostToDevice));
    P(cudaMemcpy2D(d, 99, h, 99, 100, 1, cudaMemcpyHostToDevice));
    P(cudaMemcpy2D(d, pitch, h, 100, 0, 10, cudaMemcpyHostToDevice));
    P(cudaMemcpy2D(d, pitch, h, 100, 100, 0, cudaMemcpyHostToDevice));
    P(cudaMemcpy2D(d, pitch, h, 8, 8, 100, cudaMemcpyHostToDevice));
    P(cudaMemcpy2D(d, 0, h, 0, 0, 0, cudaMemcpyHostToDevice));
    P(cudaMemset2D(d, pitch, 1, 100, 10));
    P(cudaMemset2D(d, 50, 1, 100, 10));
    P(cudaMemset2D(d, pitch, 1, 100, 100));
    cudaPitchedPtr pp;
    P(cudaMalloc3D(&pp, make_cudaExtent(100, 4, 3)));
    printf("3d %zu %zu %zu\n", pp.pitch, pp.xsize, pp.ysize);
    cudaMemcpy3DParms c = {};
    c.srcPtr = make_cudaPitchedPtr(h, 100, 100, 4);
    c.dstPtr = pp;
    c.extent = make_cudaExtent(100, 4, 3);
    c.kind = cudaMemcpyHostToDevice;
    P(cudaMemcpy3D(&c));
    c.extent.height = 5;
    P(cudaMemcpy3D(&c));
    c.extent.height = 4;
    c.extent.depth = 100;
    P(cudaMemcpy3D(&c));
    c.extent.depth = 0;
    P(cudaMemcpy3D(&c));
    P(cudaMemcpy3D(nullptr));
    P(cudaMemset3D(pp, 3, make_cudaExtent(100, 4, 3)));
    P(cudaMemcpyToSymbol(var, h, 4));
    P(cudaMemcpyToSymbol(var, h, 8));
    P(cudaMemcpyToSymbol(var, h, 4, 4));
    P(cudaMemcpyToSymbol(table, h, 64));
    P(cudaMemcpyToSymbol(table, h, 65));
    P(cudaMemcpyToSymbol(big, h, 4000));
    P(cudaMemcpyFromSymbol(h, big, 4000));
    P(cudaMemcpyFromSymbol(h, big, 4, 4000));
    P(cudaMemcpyToSymbol(h, h, 4));
    P(cudaMemcpyToSymbol(var, h, 4, 0, cudaMemcpyDeviceToHost));
    P(cudaMemcpyFromSymbol(h, var, 4, 0, cudaMemcpyHostToDevice));
    P(cudaMemcpyToSymbol(var, h, 0));
    void* sa;
    size_t ss;
    P(cudaGetSymbolAddress(&sa, var));
    P(cudaGetSymbolSize(&ss, big));
    printf("size %zu\n", ss);
    P(cudaGetSymbolAddress(&sa, h));
    P(cudaGetSymbolSize(&ss, (void*)nullptr));
    P(cudaGetSymbolAddress(&sa, managed));
    printf("managed %d\n", sa == (void*)&managed);
    cudaPointerAttributes pa;
    P(cudaPointerGetAttributes(&pa, d));
    printf("%d %d %d %d\n", pa.type, pa.device, pa.devicePointer == d, pa.hostPointer == nullptr);
    P(cudaPointerGetAttributes(&pa, h));
    printf("%d %d %d %d\n", pa.type, pa.device, pa.devicePointer == nullptr, pa.hostPointer == h);
    P(cudaPointerGetAttributes(&pa, nullptr));
    printf("%d %d %d %d\n", pa.type, pa.device, pa.devicePointer == nullptr, pa.hostPointer == nullptr);
    P(cudaPointerGetAttributes(&pa, &managed));
    printf("%d %d\n", pa.type, pa.device);
    P(cudaGetSymbolAddress(&sa, var));
    P(cudaPointerGetAttributes(&pa, sa));
    printf("%d %d %d\n", pa.type, pa.device, pa.devicePointer == sa);
    void* ph;
    P(cudaMallocHost(&ph, 1000));
    P(cudaPointerGetAttributes(&pa, (char*)ph + 4));
    printf("%d %d %d %d\n", pa.type, pa.device, pa.devicePointer == (char*)ph + 4, pa.hostPointer == (char*)ph + 4);
    P(cudaFree(ph));
    P(cudaFreeHost(ph));
    P(cudaFreeHost(ph));
    P(cudaFreeHost(nullptr));
    P(cudaFreeHost(h));
    P(cudaMallocHost(&ph, 0));
    printf("null %d\n", ph == nullptr);
    P(cudaHostAlloc(&ph, 100, 64));
    P(cudaHostAlloc(&ph, 100, cudaHostAllocMapped));
    void* dp;
    P(cudaHostGetDevicePointer(&dp, ph, 0));
    printf("same %d\n", dp == ph);
    P(cudaHostGetDevicePointer(&dp, (char*)ph + 8, 0));
    printf("same %d\n", dp == (char*)ph + 8);
    P(cudaHostGetDevicePointer(&dp, h, 0));
    P(cudaHostGetDevicePointer(&dp, ph, 1));
    unsigned fl;
    P(cudaHostGetFlags(&fl, ph));
    P(cudaHostGetFlags(&fl, h));
    P(cudaHostRegister(hp, 65536, 0));
    P(cudaHostRegister(hp, 65536, 0));
    P(cudaPointerGetAttributes(&pa, hp));
    printf("%d %d %d\n", pa.type, pa.device, pa.hostPointer == hp);
    P(cudaHostGetDevicePointer(&dp, hp, 0));
    P(cudaHostUnregister(hp));
    P(cudaHostUnregister(hp));
    P(cudaHostUnregister(nullptr));
    P(cudaHostRegister(nullptr, 4, 0));
    P(cudaHostRegister(hp, 0, 0));
    P(cudaFreeHost(d));
    P(cudaMallocHost(&ph, 4096));
    int* e;
    P(cudaMalloc(&e, 4096));
    P(cudaMemcpy(e, ph, 4096, cudaMemcpyDeviceToDevice));
    P(cudaMemcpy(ph, e, 4096, cudaMemcpyDeviceToDevice));
    P(cudaMemcpy(ph, h, 4096, cudaMemcpyHostToDevice));
    P(cudaMemcpy(h, ph, 4096, cudaMemcpyDeviceToHost));
    P(cudaMemcpy(ph, h, 4097, cudaMemcpyHostToHost));
    P(cudaMemcpy(e, d, 512, cudaMemcpyHostToHost));
    P(cudaMemcpy(h, e, 512, cudaMemcpyHostToHost));
    P(cudaMemset(ph, 3, 4096));
    printf("%d\n", ((char*)ph)[9]);
    P(cudaMemcpyPeer(e, 0, d, 0, 64));
    P(cudaMemcpyPeer(e, 1, d, 0, 64));
    int* m;
    P(cudaMallocManaged(&m, 400));
    P(cudaMallocManaged(&m, 400, 3));
    P(cudaMallocManaged(&m, 0));
    P(cudaPointerGetAttributes(&pa, m));
    printf("%d %d %d %d\n", pa.type, pa.device, pa.devicePointer == m, pa.hostPointer == m);
    P(cudaMallocManaged(&m, 400));
    m[3] = 7;
    P(cudaMemcpy(h, m, 16, cudaMemcpyDeviceToHost));
    printf("%d\n", h[3]);
    P(cudaMemcpy(h, m, 16, cudaMemcpyHostToHost));
    useman<<<1,1>>>(m + 3);
    P(cudaDeviceSynchronize());
    printf("%d %d\n", m[3], managed);
    P(cudaFree(m));
}

static void streams() {
    cudaStream_t s;
    cudaEvent_t a, b, n;
    int x;
    unsigned u;
    float ms;
    P(cudaStreamCreate(&s));
    P(cudaStreamCreate(nullptr));
    P(cudaStreamCreateWithFlags(&s, 7));
    P(cudaStreamCreateWithPriority(&s, 1, -100));
    P(cudaStreamGetPriority(s, &x));
    printf("%d\n", x);
    P(cudaStreamGetFlags(s, &u));
    printf("%u\n", u);
    int lo, hi;
    P(cudaDeviceGetStreamPriorityRange(&lo, &hi));
    printf("%d %d\n", lo, hi);
    P(cudaDeviceGetStreamPriorityRange(nullptr, nullptr));
    P(cudaStreamQuery(s));
    P(cudaStreamQuery(0));
    P(cudaStreamSynchronize((cudaStream_t)1));
    P(cudaStreamDestroy(0));
    P(cudaEventCreate(&a));
    P(cudaEventCreate(&b));
    P(cudaEventCreateWithFlags(&n, cudaEventDisableTiming));
    cudaEvent_t z;
    P(cudaEventCreateWithFlags(&z, 16));
    P(cudaEventCreateWithFlags(&z, cudaEventInterprocess));
    P(cudaEventCreate(nullptr));
    P(cudaEventElapsedTime(&ms, a, b));
    P(cudaEventQuery(a));
    P(cudaEventSynchronize(a));
    P(cudaEventRecord(a, s));
    P(cudaEventElapsedTime(&ms, a, b));
    P(cudaEventRecord(b, s));
    P(cudaEventRecord(n));
    P(cudaDeviceSynchronize());
    P(cudaEventElapsedTime(&ms, a, b));
    printf("positive %d\n", ms >= 0);
    P(cudaEventElapsedTime(&ms, a, n));
    P(cudaEventElapsedTime(nullptr, a, b));
    P(cudaEventElapsedTime(&ms, nullptr, b));
    P(cudaEventRecord(nullptr));
    P(cudaEventDestroy(nullptr));
    P(cudaStreamWaitEvent(s, a));
    P(cudaStreamWaitEvent(s, nullptr));
    P(cudaStreamWaitEvent(s, a, 5));
    P(cudaEventDestroy(a));
    P(cudaStreamDestroy(s));
    P(cudaEventQuery(nullptr));
    P(cudaSetDevice(1));
    P(cudaSetDevice(-1));
    P(cudaSetDevice(0));
    P(cudaGetDeviceCount(nullptr));
    P(cudaGetDevice(nullptr));
    cudaDeviceProp prop;
    P(cudaGetDeviceProperties(&prop, 1000));
    P(cudaGetDeviceProperties(&prop, 0));
    P(cudaGetDeviceProperties(nullptr, 0));
    P(cudaDeviceGetAttribute(&x, (cudaDeviceAttr)9999, 0));
    P(cudaDeviceGetAttribute(&x, (cudaDeviceAttr)0, 0));
    P(cudaDeviceGetAttribute(&x, cudaDevAttrWarpSize, 1000));
    P(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
    P(cudaSetDeviceFlags(0));
    P(cudaSetDeviceFlags(0x1000));
    P(cudaGetDeviceFlags(&u));
    printf("flags %x\n", u);
    size_t l;
    for (int i = 0; i < 6; i++) {
        l = 0;
        P(cudaDeviceGetLimit(&l, (cudaLimit)i));
        printf("%zu\n", l);
    }
    P(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    P(cudaDeviceGetLimit(&l, cudaLimitStackSize));
    printf("%zu\n", l);
    P(cudaDeviceSetLimit((cudaLimit)77, 1));
    char id[32];
    P(cudaDeviceGetPCIBusId(id, 3, 0));
    P(cudaDeviceGetPCIBusId(id, 32, 0));
    P(cudaDeviceGetByPCIBusId(&x, "nonsense"));
    P(cudaDeviceCanAccessPeer(&x, 0, 0));
    P(cudaDeviceCanAccessPeer(&x, 0, 1000));
    P(cudaDeviceEnablePeerAccess(0, 0));
    P(cudaMemGetInfo(nullptr, &l));
    P(cudaDriverGetVersion(nullptr));
    P(cudaRuntimeGetVersion(&x));
    printf("%d\n", x);
    P(cudaChooseDevice(&x, &prop));
    cudaMemPool_t mp;
    P(cudaDeviceGetDefaultMemPool(&mp, 0));
    void* p;
    P(cudaMallocAsync(&p, 100, 0));
    P(cudaFreeAsync(p, 0));
    P(cudaFreeAsync(nullptr, 0));
    P(cudaMallocAsync(&p, 0, 0));
    printf("null %d\n", p == nullptr);
    P(cudaMallocAsync(&p, 100, 0));
    P(cudaFree(p));
    unsigned long long th = 5;
    P(cudaMemPoolSetAttribute(mp, cudaMemPoolAttrReleaseThreshold, &th));
    th = 0;
    P(cudaMemPoolGetAttribute(mp, cudaMemPoolAttrReleaseThreshold, &th));
    printf("%llu\n", th);
    P(cudaFreeAsync((void*)16, 0));
    P(cudaGetLastError());
    P(cudaGetLastError());
}

static void launches() {
    int* d;
    P(cudaMalloc(&d, 65536));
    int x;
    add<<<1,0>>>(d, 1);
    P(cudaGetLastError());
    add<<<0,1>>>(d, 1);
    P(cudaGetLastError());
    add<<<1,1025>>>(d, 1);
    P(cudaGetLastError());
    add<<<1,dim3(1,1,65)>>>(d, 1);
    P(cudaGetLastError());
    add<<<dim3(1,65536),1>>>(d, 1);
    P(cudaGetLastError());
    add<<<dim3(1,1,65536),1>>>(d, 1);
    P(cudaGetLastError());
    add<<<dim3(0x80000000u),1>>>(d, 1);
    P(cudaGetLastError());
    add<<<1,dim3(32,33)>>>(d, 1);
    P(cudaGetLastError());
    {
        int one = 1;
        void* la[] = { &d, &one };
        P(cudaLaunchKernel((void*)add, dim3(1), dim3(0), la, 0, 0));
        P(cudaLaunchKernel((void*)add, dim3(0), dim3(1), la, 0, 0));
        P(cudaLaunchKernel((void*)add, dim3(1), dim3(1025), la, 0, 0));
        P(cudaLaunchKernel((void*)add, dim3(1,65536), dim3(1), la, 0, 0));
        P(cudaLaunchKernel((void*)add, dim3(1), dim3(1), la, 1<<20, 0));
        P(cudaLaunchKernel((void*)bounded, dim3(1), dim3(256), la, 0, 0));
        P(cudaLaunchKernel((void*)add, dim3(1), dim3(1), nullptr, 0, 0));
        P(cudaGetLastError());
        cudaLaunchConfig_t c = {};
        c.gridDim = 1;
        c.blockDim = 0;
        P(cudaLaunchKernelExC(&c, (void*)add, la));
        c.blockDim = 1025;
        P(cudaLaunchKernelExC(&c, (void*)add, la));
        c.blockDim = 1;
        P(cudaLaunchKernelExC(&c, (void*)add, la));
        cudaGetLastError();
    }
    bounded<<<1,128>>>(d);
    P(cudaGetLastError());
    bounded<<<1,129>>>(d);
    P(cudaGetLastError());
    bounded<<<1,1024>>>(d);
    P(cudaGetLastError());
    dyn<<<1,32,48*1024>>>(d,1);
    P(cudaGetLastError());
    dyn<<<1,32,48*1024+1>>>(d,1);
    P(cudaGetLastError());
    dyn<<<1,32,1<<20>>>(d,1);
    P(cudaGetLastError());
    P(cudaFuncSetAttribute(dyn, cudaFuncAttributeMaxDynamicSharedMemorySize, 100*1024));
    dyn<<<1,32,100*1024>>>(d,1);
    P(cudaGetLastError());
    dyn<<<1,32,100*1024+1>>>(d,1);
    P(cudaGetLastError());
    P(cudaFuncSetAttribute(dyn, cudaFuncAttributeMaxDynamicSharedMemorySize, 1<<20));
    P(cudaFuncSetAttribute(dyn, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
    P(cudaFuncSetAttribute(dyn, (cudaFuncAttribute)77, 1));
    P(cudaFuncSetAttribute(dyn, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
    P(cudaFuncSetAttribute(dyn, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    P(cudaFuncSetAttribute(&x, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    P(cudaFuncSetAttribute(stat, cudaFuncAttributeMaxDynamicSharedMemorySize, 100*1024));
    stat<<<1,32>>>(d);
    P(cudaGetLastError());
    stat<<<1,32,48*1024-40000>>>(d);
    P(cudaGetLastError());
    stat<<<1,32,48*1024-40000+4>>>(d);
    P(cudaGetLastError());
    void* args[] = { &d, &x };
    x = 3;
    P(cudaLaunchKernel((void*)nullptr, dim3(1), dim3(1), args, 0, 0));
    P(cudaLaunchKernel((void*)&x, dim3(1), dim3(1), args, 0, 0));
    P(cudaLaunchKernel((void*)add, dim3(1), dim3(1), args, 0, 0));
    P(cudaGetLastError());
    P(cudaDeviceSynchronize());
    cudaFuncAttributes fa;
    P(cudaFuncGetAttributes(&fa, add));
    printf("%zu %zu %d %d\n", fa.sharedSizeBytes, fa.localSizeBytes, fa.maxThreadsPerBlock, fa.maxDynamicSharedSizeBytes);
    P(cudaFuncGetAttributes(&fa, bounded));
    printf("%d\n", fa.maxThreadsPerBlock);
    P(cudaFuncGetAttributes(&fa, stat));
    printf("%zu %d\n", fa.sharedSizeBytes, fa.maxDynamicSharedSizeBytes);
    P(cudaFuncGetAttributes(&fa, &x));
    P(cudaFuncGetAttributes(nullptr, add));
    P(cudaFuncGetAttributes(&fa, (void*)nullptr));
    printf("ptx %d\n", fa.ptxVersion);
    int nb;
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nb, add, 256, 0));
    printf("%d\n", nb);
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nb, add, 0, 0));
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nb, add, 2000, 0));
    printf("%d\n", nb);
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nb, add, 256, 1<<20));
    printf("%d\n", nb);
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nb, bounded, 256, 0));
    printf("%d\n", nb);
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nb, add, 33, 0));
    printf("%d\n", nb);
    int mg, bs;
    P(cudaOccupancyMaxPotentialBlockSize(&mg, &bs, add));
    printf("%d\n", bs);
    many<<<1,1>>>(d, 2.5, 3, make_float4(1,2,3,4), 5);
    P(cudaMemcpy(&x, d, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", x);
    cudaLaunchConfig_t c = {};
    c.gridDim = 1;
    c.blockDim = 1;
    P(cudaLaunchKernelEx(&c, add, d, 1));
    cudaLaunchAttribute at[2];
    at[0].id = cudaLaunchAttributeCooperative;
    at[0].val.cooperative = 1;
    at[1].id = cudaLaunchAttributePriority;
    at[1].val.priority = 0;
    c.attrs = at;
    c.numAttrs = 2;
    P(cudaLaunchKernelEx(&c, add, d, 1));
    P(cudaLaunchCooperativeKernel(add, dim3(1), dim3(1), args, 0, 0));
    P(cudaLaunchCooperativeKernel(add, dim3(1000000), dim3(1024), args, 0, 0));
    P(cudaDeviceSynchronize());
    P(cudaGetLastError());
    const char* nm;
    P(cudaFuncGetName(&nm, (void*)add));
    printf("%s\n", nm);
    size_t po, ps;
    P(cudaFuncGetParamInfo((void*)many, 3, &po, &ps));
    printf("%zu %zu\n", po, ps);
    P(cudaFuncGetParamInfo((void*)many, 5, &po, &ps));
    add<<<1,1025>>>(d, 1);
    P(cudaMalloc(&d, 4));
    P(cudaPeekAtLastError());
    P(cudaDeviceSynchronize());
    P(cudaGetLastError());
    P(cudaGetLastError());
}
__global__ void poke(int* a, long offset) { *(volatile int*)((char*)a + offset) = 1; }

__global__ void poke_shared(int index, int* out) {
    __shared__ volatile int s[64];
    s[threadIdx.x] = 1;
    s[index] = 2;
    out[0] = s[threadIdx.x];
}

__global__ void trap() { asm volatile("trap;"); }

__global__ void fail(int x) { assert(x == 3); }

__device__ __noinline__ int recursion(int n, int* a) {
    volatile int l[32];
    for (int i = 0; i < 32; i++) l[i] = a[i & 3] + n;
    return n == 0 ? l[3] : recursion(n - 1, a) + l[n & 31];
}

__global__ void recurse(int n, int* a) { a[0] = recursion(n, a); }

static void after() {
    P(cudaGetLastError());
    P(cudaPeekAtLastError());
    P(cudaDeviceSynchronize());
    P(cudaGetLastError());
    P(cudaGetLastError());
    int* p = (int*)1;
    P(cudaMalloc(&p, 4));
    P(cudaMemset(p, 0, 4));
    int x;
    P(cudaMemcpy(&x, p, 4, cudaMemcpyDeviceToHost));
    cudaEvent_t e;
    P(cudaEventCreate(&e));
    cudaStream_t s;
    P(cudaStreamCreate(&s));
    P(cudaFree(p));
    P(cudaPeekAtLastError());
    P(cudaGetDeviceCount(&x));
    P(cudaGetDevice(&x));
    add<<<1,1>>>(0,0);
    P(cudaGetLastError());
    void *h;
    P(cudaMallocHost(&h, 64));
    cudaFuncAttributes fa;
    P(cudaFuncGetAttributes(&fa, add));
    size_t f, t;
    P(cudaMemGetInfo(&f, &t));
    P(cudaEventRecord(e, 0));
    P(cudaDeviceReset());
    P(cudaGetLastError());
    P(cudaMalloc(&p, 4));
}

static void fault(const char* what) {
    int* d;
    P(cudaMalloc(&d, 4096));
    P(cudaMemset(d, 0, 4096));
    if (!strcmp(what, "good")) poke<<<1, 1>>>(d, 0);
    else if (!strcmp(what, "past")) poke<<<1, 1>>>(d, 4096);
    else if (!strcmp(what, "far")) poke<<<1, 1>>>(d, 1l << 40);
    else if (!strcmp(what, "null")) poke<<<1, 1>>>(nullptr, 0);
    else if (!strcmp(what, "small")) poke<<<1, 1>>>(nullptr, 4096);
    else if (!strcmp(what, "high")) poke<<<1, 1>>>(d, 1l << 60);
    else if (!strcmp(what, "misaligned")) poke<<<1, 1>>>(d, 2);
    else if (!strcmp(what, "host")) poke<<<1, 1>>>((int*)malloc(4096), 0);
    else if (!strcmp(what, "constant")) {
        void* address;
        P(cudaGetSymbolAddress(&address, table));
        poke<<<1, 1>>>((int*)address, 0);
    } else if (!strcmp(what, "shared")) poke_shared<<<1, 32>>>(100, d);
    else if (!strcmp(what, "trap")) trap<<<1, 1>>>();
    else if (!strcmp(what, "assert")) fail<<<1, 1>>>(2);
    else if (!strcmp(what, "stack")) recurse<<<1, 1>>>(100000, d);
    else exit(3);
    after();
}

static void pinned() {
    int* h;
    P(cudaMallocHost(&h, 4096));
    h[0] = 5;
    poke<<<1, 1>>>(h, 4);
    P(cudaDeviceSynchronize());
    printf("%d %d\n", h[0], h[1]);
}

int main(int count, char** words) {
    const char* what = count > 1 ? words[1] : "";
    setvbuf(stdout, nullptr, _IOLBF, 0);
    if (!strcmp(what, "memory")) memory();
    else if (!strcmp(what, "streams")) streams();
    else if (!strcmp(what, "launches")) launches();
    else if (!strcmp(what, "pinned")) pinned();
    else fault(what);
    return 0;
}
