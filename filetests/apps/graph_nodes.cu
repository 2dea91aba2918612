// Graphs built node by node: kernels, copies, fills, functions of the host, graphs in graphs, and their order.

#include "check.h"

__global__ void affine(int* data, int factor, int offset)
{
    int i = threadIdx.x;
    data[i] = data[i] * factor + offset;
}

static void CUDART_CB halve(void* data)
{
    for (int i = 0; i < 64; ++i) static_cast<int*>(data)[i] /= 2;
}

int main()
{
    const int n = 64, bytes = n * sizeof(int);
    int *device = nullptr, *shorts = nullptr;
    CHECK(cudaMalloc(&device, bytes));
    CHECK(cudaMalloc(&shorts, bytes));
    std::vector<int> in(n), out(n), filled(n);
    for (int i = 0; i < n; ++i) in[i] = i * i;

    cudaGraph_t graph = nullptr;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t upload_node, first, second, download_node, host_node, fill, fetch, end;
    // Not in the order in which they run: what is first comes from the dependencies.
    CHECK(cudaGraphAddEmptyNode(&end, graph, nullptr, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&upload_node, graph, nullptr, 0, device, in.data(), bytes, cudaMemcpyHostToDevice));
    int factor = 3, offset = 1;
    void* args[] = {&device, &factor, &offset};
    cudaKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void*>(affine);
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(n);
    kernel.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&first, graph, &upload_node, 1, &kernel));
    factor = -2;
    CHECK(cudaGraphAddKernelNode(&second, graph, nullptr, 0, &kernel));
    CHECK(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(device, bytes, bytes, 1);
    copy.dstPtr = make_cudaPitchedPtr(out.data(), bytes, bytes, 1);
    copy.extent = make_cudaExtent(bytes, 1, 1);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaGraphAddMemcpyNode(&download_node, graph, &second, 1, &copy));
    cudaHostNodeParams function = {halve, out.data()};
    CHECK(cudaGraphAddHostNode(&host_node, graph, &download_node, 1, &function));
    cudaMemsetParams pattern = {};
    pattern.dst = shorts;
    pattern.value = 0x1234;
    pattern.elementSize = 2;
    pattern.width = 2 * n;
    pattern.height = 1;
    CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &pattern));
    CHECK(cudaGraphAddMemcpyNode1D(&fetch, graph, &fill, 1, filled.data(), shorts, bytes, cudaMemcpyDeviceToHost));
    cudaGraphNode_t both[] = {host_node, fetch}, ends[] = {end, end};
    CHECK(cudaGraphAddDependencies(graph, both, ends, nullptr, 2));

    cudaGraphExec_t exec = nullptr;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    bool right = true, fills = true;
    for (int i = 0; i < n; ++i) {
        right &= out[i] == ((i * i * 3 + 1) * -2 + 1) / 2;
        fills &= filled[i] == 0x12341234;
    }
    expect("nodes run in order", right);
    expect("fills of two bytes", fills);

    factor = 5;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, first, &kernel));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    expect("other arguments", out[9] == ((81 * 5 + 1) * -2 + 1) / 2);

    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(host_node, &type));
    size_t nodes = 0, roots = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    expect("what a graph is made of", type == cudaGraphNodeTypeHost && nodes == 8 && roots == 2);

    cudaGraph_t outer = nullptr, copied = nullptr;
    CHECK(cudaGraphCreate(&outer, 0));
    cudaGraphNode_t one, two;
    CHECK(cudaGraphAddChildGraphNode(&one, outer, nullptr, 0, graph));
    factor = 1;
    offset = 100;
    CHECK(cudaGraphAddKernelNode(&two, outer, &one, 1, &kernel));
    CHECK(cudaGraphClone(&copied, outer));
    CHECK(cudaGraphDestroy(outer));
    cudaGraphExec_t nested = nullptr;
    CHECK(cudaGraphInstantiate(&nested, copied, 0));
    CHECK(cudaGraphLaunch(nested, 0));
    expect("a graph in a graph", download(device, n)[4] == (16 * 3 + 1) * -2 + 1 + 100);

    CHECK(cudaGraphAddDependencies(graph, &second, &first, nullptr, 1));
    cudaGraphExec_t circular = nullptr;
    expect("a circle", cudaGraphInstantiate(&circular, graph, 0) == cudaErrorInvalidValue);
    expect("a graph that is none", cudaGraphLaunch(nullptr, 0) == cudaErrorInvalidValue);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphExecDestroy(nested));
    CHECK(cudaGraphDestroy(graph));
    return verdict();
}
