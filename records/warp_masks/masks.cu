// What `.sync` instructions do with masks that do not fit: `masks OPERATION CASE` runs one warp, each lane with a mask
// of its own from memory, and prints what the lanes got.

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void run(const unsigned* masks, unsigned* out, int operation)
{
    unsigned lane = threadIdx.x, mask = masks[lane], got = 0;
    switch (operation) {
    case 0: asm volatile("shfl.sync.down.b32 %0, %1, 1, 31, %2;" : "=r"(got) : "r"(lane + 100), "r"(mask)); break;
    case 1:
        asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 3; vote.sync.ballot.b32 %0, p, %2;}"
                     : "=r"(got) : "r"(lane), "r"(mask));
        break;
    case 2: asm volatile("redux.sync.add.u32 %0, %1, %2;" : "=r"(got) : "r"(lane), "r"(mask)); break;
    case 3: asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(got) : "r"(lane & 3), "r"(mask)); break;
    case 4:
        asm volatile("bar.warp.sync %0;" :: "r"(mask));
        got = lane;
        break;
    case 5:
        asm volatile("{.reg .pred p, q; setp.ne.u32 p, %1, 3; vote.sync.all.pred q, p, %2; selp.u32 %0, 1, 0, q;}"
                     : "=r"(got) : "r"(lane), "r"(mask));
        break;
    }
    out[lane] = got;
}

int main(int argc, char** argv)
{
    int operation = argc > 1 ? atoi(argv[1]) : 0, which = argc > 2 ? atoi(argv[2]) : 0;
    std::vector<unsigned> masks(32, 0xffffffffu);
    auto halves = [&] { for (int lane = 0; lane < 32; ++lane) masks[lane] = lane < 16 ? 0xffff : 0xffff0000; };
    switch (which) {
    case 0: masks[5] = 0xffff7fff; break;                                        // does not name 15, which names it
    case 1: masks[5] = 0xffffffdf; break;                                        // does not name itself
    case 2: halves(); break;                                                     // two halves
    case 3: masks[5] = 0; break;                                                 // names none
    case 4: masks.assign(32, 0xffffffdf); masks[5] = 0xffffffff; break;          // names all, and none names it
    case 5: halves(); masks[5] = 0xffff0000; break;                              // names the other half
    case 6: masks[0] = 0xffff7fff; break;                                        // as 0, in the first lane
    }
    unsigned *device, *out, got[32];
    cudaMalloc(&device, 128);
    cudaMalloc(&out, 128);
    cudaMemcpy(device, masks.data(), 128, cudaMemcpyHostToDevice);
    run<<<1, 32>>>(device, out, operation);
    cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(got, out, 128, cudaMemcpyDeviceToHost);
    printf("op %d case %d: %s:", operation, which, cudaGetErrorName(error));
    if (error == cudaSuccess) for (unsigned word : got) printf(" %x", word);
    printf("\n");
}
