// What is mapped around the first allocation of a program as it is: preloaded, it reads there before the first copy to the host,
// from BEAM_FROM to BEAM_TO in steps of BEAM_STEP, all in MiB, until an access fails.
//
//     nvcc -arch=sm_90 -shared -Xcompiler -fPIC -cudart shared -o layout.so layout.cu -ldl
//     LD_PRELOAD=./layout.so BEAM_FROM=-400 BEAM_TO=0 BEAM_STEP=24 ./bfs

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <unistd.h>
typedef uint64_t u64;
typedef int64_t i64;
typedef uint32_t u32;
__global__ void shim_rd(u64 a, u32 *out) {
    u32 v;
    asm volatile("ld.global.cv.u32 %0,[%1];" : "=r"(v) : "l"(a));
    *out = v;
}
static char *first = 0;
static u32 *o;
static int n = 0;
extern "C" cudaError_t my_malloc(void **, size_t) __asm__("cudaMalloc");
extern "C" cudaError_t my_malloc(void **p, size_t s) {
    static cudaError_t (*real)(void **, size_t);
    if (!real)
        real = (cudaError_t (*)(void **, size_t))dlsym(RTLD_NEXT, "cudaMalloc");
    cudaError_t e = real(p, s);
    if (!first)
        first = (char *)*p;
    if (getenv("BEAM_SHOW"))
        fprintf(stderr, "alloc %zu at %+ld (base %p)\n", s, (char *)*p - first, first);
    return e;
}
extern "C" cudaError_t my_copy(void *, const void *, size_t, cudaMemcpyKind) __asm__("cudaMemcpy");
extern "C" cudaError_t my_copy(void *d, const void *s, size_t c, cudaMemcpyKind k) {
    static cudaError_t (*real)(void *, const void *, size_t, cudaMemcpyKind);
    if (!real)
        real = (cudaError_t (*)(void *, const void *, size_t, cudaMemcpyKind))dlsym(RTLD_NEXT, "cudaMemcpy");
    if (k == cudaMemcpyDeviceToHost && first && getenv("BEAM_FROM")) {
        cudaDeviceSynchronize();
        if (getenv("BEAM_SHOW")) {
            FILE *f = fopen("/proc/self/maps", "r");
            char l[512];
            u64 a = (u64)first;
            while (fgets(l, 512, f)) {
                u64 x, y;
                sscanf(l, "%lx-%lx", &x, &y);
                if (y > a - (1ull << 30) && x < a + (1ull << 30))
                    fprintf(stderr, "map %+.1f %+.1f MiB %s", (double)(i64)(x - a) / 1048576,
                            (double)(i64)(y - a) / 1048576, strchr(l, ' '));
            }
        }
        i64 from = atoll(getenv("BEAM_FROM")) << 20, to = atoll(getenv("BEAM_TO")) << 20,
            st = atoll(getenv("BEAM_STEP")) << 20;
        o = (u32 *)first;
        static void (*dummy)();
        u32 keep;
        real(&keep, o, 4, cudaMemcpyDeviceToHost);
        for (i64 x = from; x < to; x += st) {
            shim_rd<<<1, 1>>>((u64)first + x + 4096, o);
            int e = cudaDeviceSynchronize();
            fprintf(stderr, "at %ld %d\n", x >> 20, e);
            if (e)
                _exit(0);
        }
        _exit(0);
    }
    return real(d, s, c, k);
}
