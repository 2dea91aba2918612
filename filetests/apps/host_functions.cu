// Functions of the host in a stream: they run in its order, between the kernels.

#include <string>

#include "check.h"

__global__ void square(int* value) { *value *= *value; }

struct Note {
    std::string* log;
    const int* value;
    const char* name;
};

static void CUDART_CB write(void* data)
{
    const Note* note = static_cast<const Note*>(data);
    *note->log += note->name + std::to_string(*note->value) + ";";
}

static void CUDART_CB finished(cudaStream_t, cudaError_t status, void* data)
{
    *static_cast<std::string*>(data) += status == cudaSuccess ? "done" : "failed";
}

int main()
{
    int *device = nullptr, *host = nullptr;
    CHECK(cudaMalloc(&device, sizeof(int)));
    CHECK(cudaMallocHost(&host, sizeof(int)));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    std::string log;
    Note notes[2] = {{&log, host, "first "}, {&log, host, "second "}};
    *host = 3;
    CHECK(cudaMemcpyAsync(device, host, sizeof(int), cudaMemcpyHostToDevice, stream));
    for (Note& note : notes) {
        square<<<1, 1, 0, stream>>>(device);
        CHECK(cudaMemcpyAsync(host, device, sizeof(int), cudaMemcpyDeviceToHost, stream));
        CHECK(cudaLaunchHostFunc(stream, write, &note));
    }
    CHECK(cudaStreamAddCallback(stream, finished, &log, 0));
    CHECK(cudaStreamSynchronize(stream));
    std::printf("%s\n", log.c_str());
    expect("functions run in order", log == "first 9;second 81;done");
    expect("no function", cudaLaunchHostFunc(stream, nullptr, nullptr) == cudaErrorInvalidValue);
    expect("flags of a callback", cudaStreamAddCallback(stream, finished, &log, 1) == cudaErrorInvalidValue);
    return verdict();
}
