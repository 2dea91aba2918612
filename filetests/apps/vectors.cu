// Vector types and qualified pointers: float4, int2, char3, read-only loads, restrict, volatile, cache hints.

#include "check.h"

struct __align__(16) Particle {
    float3 place;
    short kind;
    uchar2 flags;
};

__global__ void transform(const float4* __restrict__ in, float4* __restrict__ out, const int2* __restrict__ order, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int2 pair = __ldg(&order[i]);
    float4 a = __ldg(&in[pair.x]), b = __ldcs(&in[pair.y]);
    __stcg(&out[i], make_float4(a.x + b.w, a.y - b.z, a.z * b.y, a.w + 2.0f * b.x));
}

__global__ void move(Particle* particles, const double2* steps, char3* signs, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle particle = particles[i];
    double2 step = steps[i];
    particle.place.x += static_cast<float>(step.x);
    particle.place.z -= static_cast<float>(step.y);
    particle.kind = static_cast<short>(-particle.kind);
    particle.flags.y = static_cast<unsigned char>(particle.flags.x + 200);
    particles[i] = particle;
    signs[i] = make_char3(step.x < 0 ? -1 : 1, step.y < 0 ? -1 : 1, static_cast<signed char>(i - 64));
}

__global__ void relay(volatile int* flags, int rounds)
{
    volatile __shared__ int baton;
    if (threadIdx.x == 0) baton = 1;
    __syncthreads();
    for (int round = 0; round < rounds; ++round) {
        if (threadIdx.x == round % blockDim.x) baton = baton * 3 + flags[round];
        __syncthreads();
    }
    if (threadIdx.x == 0) flags[0] = baton;
}

int main()
{
    const int n = 100;
    std::vector<float4> in(n);
    std::vector<int2> order(n);
    for (int i = 0; i < n; ++i) {
        in[i] = make_float4(i, 2.0f * i, 0.5f * i, -i);
        order[i] = make_int2((i * 7) % n, (i * 13 + 1) % n);
    }
    float4* out = upload(in);
    transform<<<4, 32>>>(upload(in), out, upload(order), n);
    std::vector<float4> found = download(out, n);
    bool right = true;
    for (int i = 0; i < n; ++i) {
        float4 a = in[order[i].x], b = in[order[i].y];
        right &= found[i].x == a.x + b.w && found[i].y == a.y - b.z;
        right &= found[i].z == a.z * b.y && found[i].w == a.w + 2.0f * b.x;
    }
    expect("float4 and int2", right);

    std::vector<Particle> particles(n);
    std::vector<double2> steps(n);
    for (int i = 0; i < n; ++i) {
        particles[i] = {make_float3(i, 1, 2), static_cast<short>(i * 300), make_uchar2(i, 0)};
        steps[i] = make_double2(i - 50, 0.5 * i - 20);
    }
    Particle* moved = upload(particles);
    char3* signs = upload(std::vector<char3>(n));
    move<<<1, 128>>>(moved, upload(steps), signs, n);
    std::vector<Particle> after = download(moved, n);
    std::vector<char3> sign = download(signs, n);
    right = true;
    for (int i = 0; i < n; ++i) {
        right &= after[i].place.x == 2.0f * i - 50 && after[i].place.z == 22 - 0.5f * i && after[i].place.y == 1;
        right &= after[i].kind == static_cast<short>(-i * 300) && after[i].flags.y == static_cast<unsigned char>(i + 200);
        right &= sign[i].x == (i < 50 ? -1 : 1) && sign[i].y == (i < 40 ? -1 : 1) && sign[i].z == i - 64;
    }
    expect("structures with vectors", right);

    std::vector<int> flags(12);
    int want = 1;
    for (int i = 0; i < 12; ++i) want = want * 3 + (flags[i] = i * 5 - 9);
    int* device = upload(flags);
    relay<<<1, 5>>>(device, 12);
    expect("volatile variables", download(device, 1)[0] == want);
    return verdict();
}
