// Graphs captured from streams: forks and joins, launches again with other data, updates of what was instantiated.

#include "check.h"

__global__ void scale(int* data, int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= by;
}

__global__ void add(int* to, const int* from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}

const int n = 512, bytes = n * sizeof(int);
static int *host, *a, *b, *out;

static void CUDART_CB count(void* counter) { ++*static_cast<int*>(counter); }

static cudaGraph_t capture(cudaStream_t stream, cudaStream_t side, int factor, int* counter)
{
    cudaEvent_t fork, join;
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(a, host, bytes, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    CHECK(cudaMemsetAsync(b, 1, bytes, side));
    scale<<<n / 128, 128, 0, side>>>(b, n, 2);
    scale<<<n / 128, 128, 0, stream>>>(a, n, factor);
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(stream, join, 0));
    add<<<n / 128, 128, 0, stream>>>(a, b, n);
    CHECK(cudaMemcpyAsync(out, a, bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, count, counter));
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(side, &status));
    expect("the other stream is captured too", status == cudaStreamCaptureStatusActive);
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(join));
    return graph;
}

static bool computed(int start, int factor)
{
    bool right = true;
    for (int i = 0; i < n; ++i) right &= out[i] == (start + i) * factor + 2 * 0x01010101;
    return right;
}

int main()
{
    cudaStream_t stream, side;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&side));
    CHECK(cudaMallocHost(&host, bytes));
    CHECK(cudaMallocHost(&out, bytes));
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    int counter = 0;
    out[0] = -1;
    cudaGraph_t graph = capture(stream, side, 3, &counter);
    expect("nothing happens in a capture", out[0] == -1 && counter == 0);
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    expect("a node for each operation", nodes == 7);

    cudaGraphExec_t exec = nullptr;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    bool right = true;
    for (int start = 0; start < 3; ++start) {
        for (int i = 0; i < n; ++i) host[i] = start + i;
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        right &= computed(start, 3);
    }
    expect("launches with other data", right);
    expect("functions of the host", counter == 3);

    cudaGraph_t changed = capture(stream, side, 7, &counter);
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(exec, changed, &info));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    expect("an update", info.result == cudaGraphExecUpdateSuccess && computed(2, 7));

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    scale<<<1, 1, 0, stream>>>(a, 1, 1);
    expect("no waiting in a capture", cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
    cudaGraph_t broken = nullptr;
    expect("which is broken then", cudaStreamEndCapture(stream, &broken) == cudaErrorStreamCaptureInvalidated && !broken);
    expect("a capture that never began", cudaStreamEndCapture(side, &broken) == cudaErrorIllegalState);
    cudaGetLastError();
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(changed));
    CHECK(cudaStreamDestroy(stream));
    return verdict();
}
