// Which of several lanes' stores to one address stays, and in which order a warp's atomic accesses are done.
//
//     nvcc -arch=sm_90 -std=c++17 -o store_order store_order.cu && ./store_order

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
typedef uint64_t u64;
typedef uint32_t u32;
// each lane stores its lane id at slot sel[lane]; who stays?
template <class T> __device__ T make(u32 l);
template <> __device__ unsigned char make(u32 l) {
    return l + 1;
}
template <> __device__ unsigned short make(u32 l) {
    return l + 1;
}
template <> __device__ u32 make(u32 l) {
    return l + 1;
}
template <> __device__ u64 make(u32 l) {
    return (u64)(l + 1) * 0x100000001ull;
}
template <> __device__ uint2 make(u32 l) {
    return make_uint2(l + 1, l + 1);
}
template <> __device__ uint4 make(u32 l) {
    return make_uint4(l + 1, l + 1, l + 1, l + 1);
}
__device__ __forceinline__ void stg(void *p, unsigned char v, int k) {
    asm volatile("st.global.u8 [%0],%1;" ::"l"(p), "r"((u32)v) : "memory");
}
__device__ __forceinline__ void stg(void *p, unsigned short v, int k) {
    asm volatile("st.global.u16 [%0],%1;" ::"l"(p), "h"(v) : "memory");
}
__device__ __forceinline__ void stg(void *p, u32 v, int k) {
    asm volatile("st.global.u32 [%0],%1;" ::"l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ void stg(void *p, u64 v, int k) {
    asm volatile("st.global.u64 [%0],%1;" ::"l"(p), "l"(v) : "memory");
}
__device__ __forceinline__ void stg(void *p, uint2 v, int k) {
    asm volatile("st.global.v2.u32 [%0],{%1,%2};" ::"l"(p), "r"(v.x), "r"(v.y) : "memory");
}
__device__ __forceinline__ void stg(void *p, uint4 v, int k) {
    asm volatile("st.global.v4.u32 [%0],{%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
__device__ __forceinline__ void sts(u32 p, unsigned char v) {
    asm volatile("st.shared.u8 [%0],%1;" ::"r"(p), "r"((u32)v) : "memory");
}
__device__ __forceinline__ void sts(u32 p, unsigned short v) {
    asm volatile("st.shared.u16 [%0],%1;" ::"r"(p), "h"(v) : "memory");
}
__device__ __forceinline__ void sts(u32 p, u32 v) {
    asm volatile("st.shared.u32 [%0],%1;" ::"r"(p), "r"(v) : "memory");
}
__device__ __forceinline__ void sts(u32 p, u64 v) {
    asm volatile("st.shared.u64 [%0],%1;" ::"r"(p), "l"(v) : "memory");
}
__device__ __forceinline__ void sts(u32 p, uint2 v) {
    asm volatile("st.shared.v2.u32 [%0],{%1,%2};" ::"r"(p), "r"(v.x), "r"(v.y) : "memory");
}
__device__ __forceinline__ void sts(u32 p, uint4 v) {
    asm volatile("st.shared.v4.u32 [%0],{%1,%2,%3,%4};" ::"r"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
__device__ __forceinline__ void stx(void *p, u32 v) {
    asm volatile("st.u32 [%0],%1;" ::"l"(p), "r"(v) : "memory");
}
// cases: per block: 32 slots indices + mask -> slots content
template <class T> __global__ void g(const unsigned char *sel, const u32 *mask, T *slots, int stride) {
    u32 l = threadIdx.x;
    size_t b = blockIdx.x;
    T *s = slots + b * 32 * stride;
    if (mask[b] >> l & 1)
        stg(s + sel[b * 32 + l] * stride, make<T>(l), 0);
}
template <class T> __global__ void s(const unsigned char *sel, const u32 *mask, T *slots, int stride) {
    __shared__ __align__(16) T m[32 * 32];
    u32 l = threadIdx.x;
    size_t b = blockIdx.x;
    for (int i = l; i < 32 * stride; i += 32)
        m[i] = T();
    __syncthreads();
    if (mask[b] >> l & 1)
        sts((u32)__cvta_generic_to_shared(m + sel[b * 32 + l] * stride), make<T>(l));
    __syncthreads();
    slots[b * 32 * stride + l * stride] = m[l * stride];
}
template <class T> static void run(const char *name, bool shared, int N, int stride) {
    unsigned char *sel;
    u32 *mask;
    T *slots;
    cudaMallocManaged(&sel, N * 32);
    cudaMallocManaged(&mask, N * 4);
    cudaMallocManaged(&slots, sizeof(T) * (size_t)N * 32 * stride);
    srand(7);
    for (int i = 0; i < N; i++) {
        int k = 1 + rand() % (i % 3 == 0 ? 1 : 32);
        mask[i] = i % 2 ? 0xffffffffu : ((u32)rand() << 17 ^ (u32)rand() << 3 ^ rand());
        for (int l = 0; l < 32; l++)
            sel[i * 32 + l] = rand() % k;
    }
    cudaMemset(slots, 0, sizeof(T) * (size_t)N * 32 * stride);
    cudaDeviceSynchronize();
    if (shared)
        s<T><<<N, 32>>>(sel, mask, slots, stride);
    else
        g<T><<<N, 32>>>(sel, mask, slots, stride);
    cudaError_t e = cudaDeviceSynchronize();
    if (e)
        printf("%s err %d\n", name, e);
    // rules
    long conf = 0, lowest = 0, highest = 0, half = 0, quarter = 0, half_hi = 0;
    long firsts = 0;
    int shown = 0;
    for (int i = 0; i < N; i++)
        for (int sl = 0; sl < 32; sl++) {
            u32 who = 0;
            for (int l = 0; l < 32; l++)
                if ((mask[i] >> l & 1) && sel[i * 32 + l] == sl)
                    who |= 1u << l;
            if (!(who & (who - 1)))
                continue;
            conf++;
            u32 got;
            unsigned char *p = (unsigned char *)(slots + (size_t)i * 32 * stride + (size_t)sl * stride);
            u32 gv = 0;
            memcpy(&gv, p, sizeof(T) < 4 ? sizeof(T) : 4);
            got = gv - 1;
            int lo = __builtin_ctz(who), hi = 31 - __builtin_clz(who);
            lowest += (int)got == lo;
            highest += (int)got == hi;
            u32 h = who >> 16 ? who & 0xffff0000u : who;
            half += (int)got == __builtin_ctz(h);
            u32 q = 0;
            for (int k = 3; k >= 0; k--)
                if (who >> (8 * k) & 0xff) {
                    q = who & (0xffu << (8 * k));
                    break;
                }
            quarter += (int)got == __builtin_ctz(q);
            if ((int)got != lo && (int)got != __builtin_ctz(h) && (int)got != __builtin_ctz(q) && shown++ < 6)
                printf("   %s who %08x got %u\n", name, who, got);
        }
    printf("%s %s stride %d conflicts %ld lowest %ld highest %ld lastHalfLowest %ld lastQuarterLowest %ld\n", name,
           shared ? "shared" : "global", stride, conf, lowest, highest, half, quarter);
    cudaFree(sel);
    cudaFree(mask);
    cudaFree(slots);
}
// atomics order: returned old values give order
__global__ void at(const unsigned char *sel, const u32 *mask, u32 *slots, u32 *old, int shared) {
    __shared__ u32 m[32];
    u32 l = threadIdx.x;
    size_t b = blockIdx.x;
    m[l] = 0;
    __syncthreads();
    if (mask[b] >> l & 1) {
        if (shared)
            old[b * 32 + l] = atomicExch(&m[sel[b * 32 + l]], l + 1);
        else
            old[b * 32 + l] = atomicExch(&slots[b * 32 + sel[b * 32 + l]], l + 1);
    }
    __syncthreads();
    if (shared)
        slots[b * 32 + l] = m[l];
}
__global__ void at2(const unsigned char *sel, const u32 *mask, u32 *slots, u32 *old, int shared) {
    __shared__ u32 m[32];
    u32 l = threadIdx.x;
    size_t b = blockIdx.x;
    m[l] = 0;
    __syncthreads();
    u32 inc = 1u + l;
    if (mask[b] >> l & 1) {
        if (shared)
            old[b * 32 + l] = atomicAdd(&m[sel[b * 32 + l]], inc);
        else
            old[b * 32 + l] = atomicAdd(&slots[b * 32 + sel[b * 32 + l]], inc);
    }
    __syncthreads();
    if (shared)
        slots[b * 32 + l] = m[l];
}
__global__ void at3(const unsigned char *sel, const u32 *mask, u32 *slots, u32 *old, int shared) {
    __shared__ float m[32];
    u32 l = threadIdx.x;
    size_t b = blockIdx.x;
    m[l] = 0;
    __syncthreads();
    float inc = (float)(1u << (l % 24));
    if (mask[b] >> l & 1) {
        float o;
        if (shared)
            o = atomicAdd(&m[sel[b * 32 + l]], inc);
        else
            o = atomicAdd((float *)&slots[b * 32 + sel[b * 32 + l]], inc);
        old[b * 32 + l] = (u32)o;
    }
    __syncthreads();
    if (shared)
        slots[b * 32 + l] = m[l];
}
static void atom(int which, int shared, int N) {
    unsigned char *sel;
    u32 *mask, *slots, *old;
    cudaMallocManaged(&sel, N * 32);
    cudaMallocManaged(&mask, N * 4);
    cudaMallocManaged(&slots, 4ull * N * 32);
    cudaMallocManaged(&old, 4ull * N * 32);
    srand(9);
    for (int i = 0; i < N; i++) {
        int k = 1 + rand() % (i % 3 == 0 ? 1 : 32);
        mask[i] = i % 2 ? 0xffffffffu : ((u32)rand() << 17 ^ (u32)rand() << 3 ^ rand());
        for (int l = 0; l < 32; l++)
            sel[i * 32 + l] = rand() % k;
    }
    cudaMemset(slots, 0, 4ull * N * 32);
    cudaMemset(old, 0xff, 4ull * N * 32);
    cudaDeviceSynchronize();
    if (which == 0)
        at<<<N, 32>>>(sel, mask, slots, old, shared);
    else if (which == 1)
        at2<<<N, 32>>>(sel, mask, slots, old, shared);
    else
        at3<<<N, 32>>>(sel, mask, slots, old, shared);
    cudaDeviceSynchronize();
    long pairs = 0, asc = 0, desc = 0, other = 0;
    int shown = 0;
    for (int i = 0; i < N; i++)
        for (int sl = 0; sl < 32; sl++) {
            int ls[32], n = 0;
            for (int l = 0; l < 32; l++)
                if ((mask[i] >> l & 1) && sel[i * 32 + l] == sl)
                    ls[n++] = l;
            if (n < 2)
                continue;
            pairs++; // ascending?
            bool a = true, d = true;
            u64 sum = 0;
            for (int j = 0; j < n; j++) {
                u32 exp = which == 0 ? (j ? ls[j - 1] + 1 : 0) : (u32)sum;
                a &= old[i * 32 + ls[j]] == exp;
                sum += which == 1 ? ls[j] + 1 : 1ull << (ls[j] % 24);
            }
            sum = 0;
            for (int j = n - 1; j >= 0; j--) {
                u32 exp = which == 0 ? (j < n - 1 ? ls[j + 1] + 1 : 0) : (u32)sum;
                d &= old[i * 32 + ls[j]] == exp;
                sum += which == 1 ? ls[j] + 1 : 1ull << (ls[j] % 24);
            }
            asc += a;
            desc += d;
            if (!a && !d) {
                other++;
                if (shown++ < 3) {
                    printf("   order: ");
                    for (int j = 0; j < n; j++)
                        printf("%d:%u ", ls[j], old[i * 32 + ls[j]]);
                    printf("\n");
                }
            }
        }
    printf("atom %d shared %d groups %ld ascending %ld descending %ld other %ld\n", which, shared, pairs, asc, desc,
           other);
}
int main() {
    for (int rep = 0; rep < 2; rep++)
        for (int stride : {1, 2, 8})
            for (int sh = 0; sh < 2; sh++) {
                int N = 20000;
                run<unsigned char>("u8", sh, N, stride);
                run<unsigned short>("u16", sh, N, stride);
                run<u32>("u32", sh, N, stride);
                run<u64>("u64", sh, N, stride);
                run<uint2>("v2u32", sh, N, stride);
                run<uint4>("v4u32", sh, N, stride);
            }
    for (int w = 0; w < 3; w++)
        for (int sh = 0; sh < 2; sh++)
            atom(w, sh, 20000);
}
