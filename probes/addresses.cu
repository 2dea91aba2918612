// Which addresses of global memory a GPU maps around the first allocation of a process. Every access is made in a process of its
// own from the first that fails on.
//
//     nvcc -arch=sm_90 -std=c++17 -o addresses addresses.cu
//     ./addresses layout                      where allocations go, and what the process has mapped
//     ./addresses scan -536870912 0 65536     reads from, to, at steps; prints where the answer changes: 0 zero, 1 else, or the error
//     ./addresses bits                        reads and writes at the first pointer with one bit flipped
//     ./addresses gen                         the same with generic addresses; small absolute addresses

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <functional>
#include <map>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
typedef uint64_t u64;
typedef uint32_t u32;
typedef int64_t i64;
__global__ void rd(u64 a, u32 *out) {
    u32 v;
    asm volatile("ld.global.cv.u32 %0,[%1];" : "=r"(v) : "l"(a));
    *out = v;
}
__global__ void wr(u64 a, u32 x) {
    asm volatile("st.global.u32 [%0],%1;" ::"l"(a), "r"(x) : "memory");
}
__global__ void grd(u64 a, u32 *out) {
    u32 v;
    asm volatile("ld.volatile.u32 %0,[%1];" : "=r"(v) : "l"(a));
    *out = v;
}
__global__ void gwr(u64 a, u32 x) {
    asm volatile("st.u32 [%0],%1;" ::"l"(a), "r"(x) : "memory");
}
struct Res {
    i64 off;
    int err;
    u32 val;
    u32 val2;
};
static int pfd;
static void put(i64 off, int err, u32 v, u32 v2 = 0) {
    Res r{off, err, v, v2};
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
    if (st) {
        v.push_back({-1, -(st), 0, 0});
    }
    return v;
}
struct Mem {
    char *a, *b, *c;
    u32 *out;
};
static Mem mem() {
    Mem m;
    cudaMalloc(&m.a, 336000);
    cudaMalloc(&m.b, 8000);
    cudaMalloc(&m.c, 8000);
    m.out = (u32 *)(m.c + 7000);
    cudaMemset(m.a, 0x11, 336000);
    cudaMemset(m.b, 0x22, 8000);
    cudaMemset(m.c, 0x33, 8000);
    cudaDeviceSynchronize();
    return m;
}
static void maps(const char *what) {
    FILE *f = fopen("/proc/self/maps", "r");
    char l[512];
    printf("--maps %s\n", what);
    while (fgets(l, 512, f))
        if (strstr(l, "nvidia") || strstr(l, "---p") || strstr(l, "/dev/"))
            printf("%s", l);
    fclose(f);
}
int main(int c, char **v) {
    std::string mode = v[1];
    setvbuf(stdout, 0, _IOLBF, 0);
    if (mode == "layout") {
        child([&] {
            Mem m = mem();
            printf("a %p b %+ld c %+ld\n", m.a, m.b - m.a, m.c - m.a);
            maps("after");
            for (size_t n : {1ul, 100ul, 511ul, 513ul, 4096ul, 100000ul, 1000000ul, 2000000ul, 2097152ul, 2097153ul,
                             3000000ul, 5000000ul, 1000ul, 64000000ul, 1000ul, 1000000000ul, 1000ul}) {
                char *p;
                cudaMalloc(&p, n);
                printf("malloc %zu at %+ld\n", n, p - m.a);
            }
            size_t fr, to;
            cudaMemGetInfo(&fr, &to);
            printf("free %zu total %zu used %zu\n", fr, to, to - fr);
            fflush(stdout);
        });
    }
    if (mode == "scan") { // scan FROM TO STEP
        i64 from = atoll(v[2]), to = atoll(v[3]), step = atoll(v[4]);
        i64 at = from;
        int kids = 0;
        i64 runstart = 0;
        int last = 12345;
        i64 skip = c > 5 ? atoll(v[5]) : (2 << 20);
        auto flush = [&](i64 o, int e) {
            if (e != last) {
                printf("%+ld (%.4f MiB): %d\n", o, o / 1048576.0, e);
                last = e;
            }
        };
        while (at < to) {
            kids++;
            auto r = child([&] {
                Mem m = mem();
                for (i64 o = at; o < to; o += step) {
                    rd<<<1, 1>>>((u64)m.a + o, m.out);
                    int e = cudaDeviceSynchronize();
                    u32 x = 0;
                    if (!e)
                        cudaMemcpy(&x, m.out, 4, cudaMemcpyDeviceToHost);
                    put(o, e, x);
                    if (e)
                        _exit(0);
                }
            });
            if (r.empty()) {
                printf("child empty at %ld\n", at);
                at += skip;
                continue;
            }
            for (auto &x : r) {
                flush(x.off, x.err ? x.err : (x.val ? 1 : 0));
                if (!x.err && x.val && x.val != 0x11111111 && x.val != 0x22222222 && x.val != 0x33333333 &&
                    (x.off % 65536) == 0)
                    ;
            }
            i64 o = r.back().off;
            if (r.back().err) {
                at = (o < 0 ? -((-o) / skip) * skip : (o / skip) * skip) + skip;
                if (at <= o)
                    at = o + skip;
            } else
                break;
        }
        printf("kids %d\n", kids);
    }
    if (mode == "bits") {
        for (int w = 0; w < 2; w++)
            for (int b = 2; b < 64; b++) {
                auto r = child([&] {
                    Mem m = mem();
                    u64 a = ((u64)m.a) ^ (1ull << b);
                    int e;
                    u32 x = 0, y = 0;
                    if (!w) {
                        rd<<<1, 1>>>(a, m.out);
                        e = cudaDeviceSynchronize();
                        if (!e)
                            cudaMemcpy(&x, m.out, 4, cudaMemcpyDeviceToHost);
                    } else {
                        rd<<<1, 1>>>(a, m.out);
                        e = cudaDeviceSynchronize();
                        if (!e)
                            cudaMemcpy(&y, m.out, 4, cudaMemcpyDeviceToHost);
                        wr<<<1, 1>>>(a, 0xabcd1234);
                        e = cudaDeviceSynchronize();
                        rd<<<1, 1>>>(a, m.out);
                        int e2 = cudaDeviceSynchronize();
                        if (e2 && !e)
                            e = 10000 + e2;
                        if (!e)
                            cudaMemcpy(&x, m.out, 4, cudaMemcpyDeviceToHost);
                    }
                    put((i64)(a - (u64)m.a), e, x, y);
                });
                for (auto &x : r)
                    printf("%s b %d off %+.3f MiB err %d val %08x was %08x\n", w ? "write" : "read", b,
                           x.off / 1048576.0, x.err, x.val, x.val2);
            }
    }
    if (mode == "gen") {
        for (int b = 32; b < 64; b++) {
            for (int w = 0; w < 2; w++) {
                auto r = child([&] {
                    Mem m = mem();
                    u64 a = ((u64)m.a) ^ (1ull << b);
                    if (w)
                        gwr<<<1, 1>>>(a, 7);
                    else
                        grd<<<1, 1>>>(a, m.out);
                    put(b, cudaDeviceSynchronize(), 0);
                });
                printf("generic b %d w %d err %d\n", b, w, r[0].err);
            }
        }
        for (u64 a : {0ull, 4ull, 4096ull, 65536ull, 1ull << 20, 1ull << 24, 1ull << 30, 1ull << 32}) {
            auto r = child([&] {
                Mem m = mem();
                rd<<<1, 1>>>(a, m.out);
                put(a, cudaDeviceSynchronize(), 0);
            });
            printf("abs %lx err %d\n", a, r[0].err);
        }
    }
    return 0;
}
