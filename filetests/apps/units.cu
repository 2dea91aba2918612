// Several translation units, each with its own device code and variables of the same names.

#include "check.h"

int run_first(int value);
int run_second(int value);

static __device__ int offset = 1000;
static __constant__ int factor = 2;

static __global__ void kernel(int* value) { *value = *value * factor + offset; }

int main()
{
    int* device = upload(std::vector<int>(1, 21));
    kernel<<<1, 1>>>(device);
    expect("the unit with main", download(device, 1)[0] == 1042);
    expect("the first unit", run_first(21) == 21 * 3 + 17);
    expect("the second unit", run_second(21) == 21 - 5);
    int changed = -1000;
    CHECK(cudaMemcpyToSymbol(offset, &changed, sizeof changed));
    expect("variables are apart", run_first(0) == 17 && run_second(0) == -5);
    kernel<<<1, 1>>>(device);
    expect("and their own", download(device, 1)[0] == 1042 * 2 - 1000);
    return verdict();
}
