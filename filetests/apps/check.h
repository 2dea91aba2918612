// What the applications here share: checked calls, named expectations, copies of whole vectors.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t error_ = (call);                                                                 \
        if (error_ != cudaSuccess) {                                                                 \
            std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error_));              \
            std::exit(1);                                                                            \
        }                                                                                            \
    } while (0)

inline int failures = 0;

inline void expect(const char* what, bool holds)
{
    std::printf("%-36s %s\n", what, holds ? "ok" : "WRONG");
    failures += holds ? 0 : 1;
}

inline int verdict()
{
    std::printf("%s\n", failures ? "FAIL" : "PASS");
    return failures ? 1 : 0;
}

template <typename T>
T* upload(const std::vector<T>& host)
{
    T* device = nullptr;
    CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
std::vector<T> download(const T* device, size_t n)
{
    std::vector<T> host(n);
    CHECK(cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}
