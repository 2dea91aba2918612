// Atomic operations on global and shared memory, and those that applications build of compare-and-swap.

#include "check.h"

typedef unsigned long long Long;

struct Cells {
    int add, sub, least, greatest, both, either, differ, count, down;
    unsigned exchanged;
    Long wide, wide_max;
    float single_sum;
    double double_sum, product;
};

__device__ double atomic_multiply(double* address, double by)
{
    Long* bits = reinterpret_cast<Long*>(address);
    Long old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(__longlong_as_double(assumed) * by));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__global__ void run(Cells* cells, int* tickets, int n)
{
    __shared__ int local;
    if (threadIdx.x == 0) local = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&local, 1);
        tickets[atomicAdd(&cells->add, 1)] = i;
        atomicSub(&cells->sub, i);
        atomicMin(&cells->least, (i * 37) % n - 5);
        atomicMax(&cells->greatest, (i * 37) % n);
        atomicAnd(&cells->both, ~(1 << (i & 15)));
        atomicOr(&cells->either, 1 << (i % 20));
        atomicXor(&cells->differ, i);
        atomicInc(reinterpret_cast<unsigned*>(&cells->count), 99);
        atomicDec(reinterpret_cast<unsigned*>(&cells->down), 49);
        atomicExch(&cells->exchanged, 77u);
        atomicAdd(&cells->wide, 1ull << 33);
        atomicMax(&cells->wide_max, static_cast<Long>(i) << 40);
        atomicAdd(&cells->single_sum, 0.5f);
        atomicAdd(&cells->double_sum, 0.25);
        if (i % 100 == 0) atomic_multiply(&cells->product, 2.0);
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&cells->sub, local);
}

int main()
{
    const int n = 1000;
    std::vector<Cells> cells(1);
    cells[0] = {};
    cells[0].least = n;
    cells[0].both = -1;
    cells[0].product = 1.0;
    Cells* device = upload(cells);
    int* tickets = upload(std::vector<int>(n, -1));
    run<<<4, 256>>>(device, tickets, n);
    Cells found = download(device, 1)[0];
    int differ = 0, sub = n;
    for (int i = 0; i < n; ++i) {
        differ ^= i;
        sub -= i;
    }
    std::vector<bool> seen(n);
    for (int ticket : download(tickets, n)) seen[ticket] = true;
    bool all = true;
    for (bool one : seen) all &= one;
    expect("every thread has a ticket", found.add == n && all);
    expect("sums and differences", found.sub == sub);
    expect("least and greatest", found.least == -5 && found.greatest == n - 1);
    expect("bits", found.both == static_cast<int>(0xffff0000) && found.either == 0xfffff && found.differ == differ);
    // Counting to 99 and starting again; counting down from 49.
    expect("counters that wrap", found.count == 0 && found.down == 0);
    expect("an exchange", found.exchanged == 77);
    expect("64 bits", found.wide == (static_cast<Long>(n) << 33) && found.wide_max == 999ull << 40);
    expect("float and double", found.single_sum == 500.0f && found.double_sum == 250.0);
    expect("a loop of compare-and-swap", found.product == 1024.0);
    return verdict();
}
