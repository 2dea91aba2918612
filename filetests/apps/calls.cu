// Calls that are decided as the kernel runs: function pointers in tables, and virtual functions.

#include "check.h"

typedef int (*Operation)(int, int);

__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ int multiply(int a, int b) { return a * b; }

__device__ Operation table[3] = {add, subtract, multiply};

__global__ void apply(const int* which, int* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[which[i]](i, 7);
}

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
};

struct Circle : Shape {
    float radius;
    __device__ Circle(float r) : radius(r) {}
    __device__ float area() const override { return 3.0f * radius * radius; }
};

struct Box : Shape {
    float width, height;
    __device__ Box(float w, float h) : width(w), height(h) {}
    __device__ float area() const override { return width * height; }
    __device__ int corners() const override { return 4; }
};

__global__ void shapes(float* areas, int* corners)
{
    int i = threadIdx.x;
    Circle circle(static_cast<float>(i));
    Box box(static_cast<float>(i), 2.0f);
    const Shape* shape = i % 2 ? static_cast<const Shape*>(&circle) : &box;
    areas[i] = shape->area();
    corners[i] = shape->corners();
}

int main()
{
    const int n = 96;
    std::vector<int> which(n);
    for (int i = 0; i < n; ++i) which[i] = i * i % 3;
    int* out = upload(std::vector<int>(n));
    apply<<<3, 32>>>(upload(which), out, n);
    CHECK(cudaDeviceSynchronize());
    std::vector<int> found = download(out, n);
    bool right = true;
    for (int i = 0; i < n; ++i) right &= found[i] == (which[i] == 0 ? i + 7 : which[i] == 1 ? i - 7 : i * 7);
    expect("a table of functions", right);
    float* areas = upload(std::vector<float>(32));
    shapes<<<1, 32>>>(areas, out);
    CHECK(cudaDeviceSynchronize());
    std::vector<float> area = download(areas, 32);
    found = download(out, 32);
    right = true;
    for (int i = 0; i < 32; ++i) {
        right &= area[i] == (i % 2 ? 3.0f * i * i : 2.0f * i);
        right &= found[i] == (i % 2 ? 0 : 4);
    }
    expect("virtual functions", right);
    return verdict();
}
