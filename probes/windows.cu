// What a GPU answers to accesses before, in and behind local, shared and constant memory, by their own instructions and by generic
// addresses, and to misaligned ones; one process for each.
//
//     nvcc -arch=sm_90 -std=c++17 -o windows windows.cu && ./windows

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
typedef uint64_t u64;
typedef uint32_t u32;
typedef int64_t i64;
struct Res {
    i64 off;
    int err;
    u32 val;
    u32 val2;
    u32 who;
    u32 at;
};
static int pfd;
static void put(Res r) {
    if (write(pfd, &r, sizeof r) != sizeof r)
        _exit(9);
}
static std::vector<Res> child(std::function<void()> f) {
    int p[2];
    if (pipe(p))
        exit(1);
    pid_t pid = fork();
    if (!pid) {
        close(p[0]);
        pfd = p[1];
        alarm(60);
        f();
        _exit(0);
    }
    close(p[1]);
    std::vector<Res> v;
    Res r;
    while (read(p[0], &r, sizeof r) == sizeof r)
        v.push_back(r);
    close(p[0]);
    int st;
    waitpid(pid, &st, 0);
    if (st)
        v.push_back({-1, -st, 0, 0, 0, 0});
    return v;
}
// local array of 64 words (256 B), all threads fill, thread T writes/reads at off
__global__ void loc(i64 off, int write, u32 who, u32 *out, u32 *hits) {
    u32 a[64];
    u32 t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 64; i++)
        asm volatile("st.local.u32 [%0],%1;" ::"l"((u64)__cvta_generic_to_local(&a[i])), "r"((t << 8) | i) : "memory");
    __syncthreads();
    u64 base = (u64)__cvta_generic_to_local(&a[0]);
    if (t == who) {
        out[1] = (u32)base;
        if (write)
            asm volatile("st.local.u32 [%0],%1;" ::"l"(base + off), "r"(0xdeadbeefu) : "memory");
        else {
            u32 v;
            asm volatile("ld.local.u32 %0,[%1];" : "=r"(v) : "l"(base + off));
            out[0] = v;
        }
    }
    __syncthreads();
    for (volatile int k = 0; k < 1000; k++)
        ;
    for (int i = 0; i < 64; i++) {
        u32 v;
        asm volatile("ld.local.u32 %0,[%1];" : "=r"(v) : "l"((u64)__cvta_generic_to_local(&a[i])));
        if (v != ((t << 8) | i)) {
            u32 k = atomicAdd(hits, 1);
            if (k < 8) {
                hits[1 + 2 * k] = t;
                hits[2 + 2 * k] = i;
            }
        }
    }
}
__global__ void sh(i64 off, int write, u32 *out, int dyn) {
    extern __shared__ u32 d[];
    __shared__ u32 m[1025];
    for (int i = threadIdx.x; i < 1025; i += blockDim.x)
        m[i] = 0x5000000 + i;
    if (dyn)
        for (int i = threadIdx.x; i < dyn / 4; i += blockDim.x)
            d[i] = 0x6000000 + i;
    __syncthreads();
    if (threadIdx.x == 0) {
        u32 base = (u32)__cvta_generic_to_shared(m);
        out[1] = base;
        u32 a = base + (u32)off;
        if (write)
            asm volatile("st.shared.u32 [%0],%1;" ::"r"(a), "r"(0xdeadbeefu) : "memory");
        u32 v;
        asm volatile("ld.volatile.shared.u32 %0,[%1];" : "=r"(v) : "r"(a));
        out[0] = v;
        out[2] = (u32)((u64)m >> 32);
        out[3] = (u32)((u64)m);
    }
}
__global__ void gsh(u64 add, int write, u32 *out, int local) {
    __shared__ u32 m[1024];
    u32 a[64];
    for (int i = 0; i < 64; i++)
        ((volatile u32 *)a)[i] = i;
    m[threadIdx.x] = 1;
    __syncthreads();
    u64 p = local ? (u64)&a[0] : (u64)&m[0];
    out[2] = p >> 32;
    out[3] = (u32)p;
    p += add;
    if (write)
        asm volatile("st.u32 [%0],%1;" ::"l"(p), "r"(1) : "memory");
    else {
        u32 v;
        asm volatile("ld.volatile.u32 %0,[%1];" : "=r"(v) : "l"(p));
        out[0] = v;
    }
    if (((volatile u32 *)a)[out[5] & 63] == 77)
        out[4] = 1;
}
__constant__ u32 cc[64];
__global__ void cst(i64 off, u32 *out) {
    u64 b;
    asm("{.reg .u64 t; mov.u64 %0, cc;}" : "=l"(b));
    u32 v;
    asm volatile("ld.const.u32 %0,[%1];" : "=r"(v) : "l"(b + off));
    out[0] = v;
    out[1] = (u32)b;
}
__global__ void mis(int space, u32 *out) {
    __shared__ u32 m[64];
    u32 a[8];
    m[threadIdx.x] = 0;
    u32 v = 0;
    ((volatile u32 *)a)[threadIdx.x & 7] = 1;
    if (space == 0)
        asm volatile("ld.global.u32 %0,[%1];" : "=r"(v) : "l"((u64)out + 2));
    if (space == 1)
        asm volatile("ld.shared.u32 %0,[%1];" : "=r"(v) : "r"((u32)__cvta_generic_to_shared(m) + 2));
    if (space == 2)
        asm volatile("ld.local.u32 %0,[%1];" : "=r"(v) : "l"((u64)__cvta_generic_to_local(a) + 2));
    if (space == 3)
        asm volatile("st.global.u32 [%0],%1;" ::"l"((u64)out + 2), "r"(v) : "memory");
    if (space == 4)
        asm volatile("st.shared.u32 [%0],%1;" ::"r"((u32)__cvta_generic_to_shared(m) + 2), "r"(v) : "memory");
    if (space == 5)
        asm volatile("st.local.u32 [%0],%1;" ::"l"((u64)__cvta_generic_to_local(a) + 2), "r"(v) : "memory");
    if (space == 6)
        atomicAdd((u32 *)((u64)out + 2), 1);
    if (space == 7)
        asm volatile("ld.const.u32 %0,[%1];" : "=r"(v) : "l"(2ull));
    out[0] = v + ((volatile u32 *)a)[out[1] & 7];
}
int main() {
    setvbuf(stdout, 0, _IOLBF, 0);
    std::vector<i64> offs;
    for (i64 k = 2; k < 34; k++) {
        offs.push_back(1ll << k);
        offs.push_back(-(1ll << k));
    }
    for (i64 o : {0ll, 252ll, 256ll, 260ll, 508ll, 512ll, 1020ll, 1024ll, 1028ll, -4ll, -8ll, -16ll})
        offs.push_back(o);
    for (int w = 0; w < 2; w++)
        for (i64 o : offs) {
            auto r = child([&] {
                u32 *out, *h;
                cudaMalloc(&out, 4096);
                cudaMalloc(&h, 4096);
                cudaMemset(out, 0, 4096);
                cudaMemset(h, 0, 4096);
                loc<<<4, 64>>>(o, w, 37, out, h);
                int e = cudaDeviceSynchronize();
                u32 x[2] = {}, y[17] = {};
                if (!e) {
                    cudaMemcpy(x, out, 8, cudaMemcpyDeviceToHost);
                    cudaMemcpy(y, h, 68, cudaMemcpyDeviceToHost);
                }
                put({o, e, x[0], y[0], y[1], y[2]});
                if (!e)
                    put({x[1], 0, y[3], y[4], y[5], y[6]});
            });
            printf("local %s %+ld err %d val %08x hits %u first t%u i%u", w ? "W" : "R", o, r[0].err, r[0].val,
                   r[0].val2, r[0].who, r[0].at);
            if (r.size() > 1)
                printf(" base %lx next t%u i%u t%u i%u", r[1].off, r[1].val, r[1].val2, r[1].who, r[1].at);
            printf("\n");
        }
    for (int dyn : {0, 1000})
        for (int w = 0; w < 2; w++)
            for (i64 o : {-4ll,      -8ll,
                          -64ll,     -1020ll,
                          -1024ll,   -1028ll,
                          -2048ll,   0ll,
                          4096ll,    4100ll,
                          4104ll,    4112ll,
                          4220ll,    4224ll,
                          4228ll,    5096ll,
                          5100ll,    5104ll,
                          5116ll,    5120ll,
                          5124ll,    5240ll,
                          5244ll,    5248ll,
                          5252ll,    6140ll,
                          6144ll,    8192ll,
                          65536ll,   1ll << 17,
                          1ll << 18, 1ll << 20,
                          1ll << 23, (1ll << 24) - 8192,
                          1ll << 24, 1ll << 25,
                          1ll << 31}) {
                auto r = child([&] {
                    u32 *out;
                    cudaMalloc(&out, 4096);
                    cudaMemset(out, 0, 4096);
                    sh<<<2, 64, dyn>>>(o, w, out, dyn);
                    int e = cudaDeviceSynchronize();
                    u32 x[4] = {};
                    if (!e)
                        cudaMemcpy(x, out, 16, cudaMemcpyDeviceToHost);
                    put({o, e, x[0], x[1], x[2], x[3]});
                });
                printf("shared dyn %d %s %+ld err %d val %08x base %x generic %x%08x\n", dyn, w ? "W" : "R", o,
                       r[0].err, r[0].val, r[0].val2, r[0].who, r[0].at);
            }
    for (int loc = 0; loc < 2; loc++)
        for (int w = 0; w < 2; w++)
            for (int b = 2; b < 48; b++)
                for (int s = 0; s < 2; s++) {
                    if (b < 24 && s)
                        continue;
                    auto r = child([&] {
                        u32 *out;
                        cudaMalloc(&out, 4096);
                        cudaMemset(out, 0, 4096);
                        gsh<<<1, 64>>>(s ? -(1ull << b) : 1ull << b, w, out, loc);
                        int e = cudaDeviceSynchronize();
                        u32 x[4] = {};
                        if (!e)
                            cudaMemcpy(x, out, 16, cudaMemcpyDeviceToHost);
                        put({b, e, x[0], 0, x[2], x[3]});
                    });
                    printf("generic %s %s %c2^%d err %d val %08x p %x%08x\n", loc ? "local" : "shared", w ? "W" : "R",
                           s ? '-' : '+', b, r[0].err, r[0].val, r[0].who, r[0].at);
                }
    for (i64 o : {0ll, 252ll, 256ll, 260ll, 1024ll, 4096ll, 16384ll, 32768ll, 65280ll, 65536ll, 65540ll, 1ll << 17,
                  1ll << 20, 1ll << 24, 1ll << 31, 1ll << 32, -4ll, -256ll, -65536ll}) {
        auto r = child([&] {
            u32 h[64];
            for (int i = 0; i < 64; i++)
                h[i] = 0x7000 + i;
            cudaMemcpyToSymbol(cc, h, 256);
            u32 *out;
            cudaMalloc(&out, 4096);
            cudaMemset(out, 0, 4096);
            cst<<<1, 1>>>(o, out);
            int e = cudaDeviceSynchronize();
            u32 x[2] = {};
            if (!e)
                cudaMemcpy(x, out, 8, cudaMemcpyDeviceToHost);
            put({o, e, x[0], x[1], 0, 0});
        });
        printf("const %+ld err %d val %08x base %x\n", o, r[0].err, r[0].val, r[0].val2);
    }
    for (int s = 0; s < 8; s++) {
        auto r = child([&] {
            u32 *out;
            cudaMalloc(&out, 4096);
            cudaMemset(out, 0, 4096);
            mis<<<1, 32>>>(s, out);
            int e = cudaDeviceSynchronize();
            put({s, e, 0, 0, 0, 0});
        });
        printf("misaligned %d err %d\n", s, r[0].err);
    }
}
