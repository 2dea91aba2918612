// What graphs say of themselves: nodes and their parameters, edges, copies, graphs in graphs, changes to all of these.

#include <cstdio>
#include <cstring>
#include <string>

#include <unistd.h>

#include "check.h"

__global__ void affine(int* data, int factor, short offset)
{
    data[threadIdx.x] = data[threadIdx.x] * factor + offset;
}

static void CUDART_CB nothing(void*) {}
static void CUDART_CB end(void* counter) { ++*static_cast<int*>(counter); }

int main()
{
    const int n = 32, bytes = n * sizeof(int);
    int *device = nullptr, factor = 3, ended = 0;
    short offset = 7;
    CHECK(cudaMalloc(&device, bytes));
    std::vector<int> out(n);
    cudaGraph_t graph = nullptr;
    CHECK(cudaGraphCreate(&graph, 0));

    cudaGraphNode_t fill, run, fetch, call;
    cudaGraphNodeParams any = {};
    any.type = cudaGraphNodeTypeMemset;
    any.memset.dst = device;
    any.memset.elementSize = 4;
    any.memset.value = 5;
    any.memset.width = n;
    any.memset.height = 1;
    CHECK(cudaGraphAddNode(&fill, graph, nullptr, nullptr, 0, &any));
    void* args[] = {&device, &factor, &offset};
    cudaKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void*>(affine);
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(n);
    kernel.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&run, graph, &fill, 1, &kernel));
    CHECK(cudaGraphAddMemcpyNode1D(&fetch, graph, &run, 1, out.data(), device, bytes, cudaMemcpyDeviceToHost));
    cudaHostNodeParams function = {nothing, &ended};
    CHECK(cudaGraphAddHostNode(&call, graph, &run, 1, &function));

    cudaKernelNodeParams known = {};
    CHECK(cudaGraphKernelNodeGetParams(run, &known));
    expect("a kernel's extents", known.func == kernel.func && known.blockDim.x == n && known.gridDim.x == 1);
    expect("a kernel's arguments", *static_cast<int**>(known.kernelParams[0]) == device
        && *static_cast<int*>(known.kernelParams[1]) == 3 && *static_cast<short*>(known.kernelParams[2]) == 7);
    cudaMemcpy3DParms copy = {};
    CHECK(cudaGraphMemcpyNodeGetParams(fetch, &copy));
    expect("a copy", copy.srcPtr.ptr == device && copy.dstPtr.ptr == out.data() && copy.extent.width == bytes
        && copy.kind == cudaMemcpyDeviceToHost);
    cudaMemsetParams set = {};
    CHECK(cudaGraphMemsetNodeGetParams(fill, &set));
    expect("a fill", set.dst == device && set.value == 5 && set.elementSize == 4 && set.width == n);
    cudaHostNodeParams asked = {};
    CHECK(cudaGraphHostNodeGetParams(call, &asked));
    expect("a function", asked.fn == nothing && asked.userData == &ended);
    expect("a node of another kind", cudaGraphHostNodeGetParams(run, &asked) == cudaErrorInvalidValue);

    size_t count = 4;
    cudaGraphNode_t found[4] = {};
    CHECK(cudaGraphNodeGetDependentNodes(run, found, nullptr, &count));
    expect("who waits", count == 2 && (found[0] == fetch || found[1] == fetch) && !found[2]);
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    expect("edges", count == 3);
    CHECK(cudaGraphRemoveDependencies(graph, &run, &call, nullptr, 1));
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    expect("one edge less", count == 2);

    cudaGraph_t copied = nullptr, inner = nullptr;
    cudaGraphNode_t twin = nullptr, nested = nullptr, first = nullptr;
    CHECK(cudaGraphClone(&copied, graph));
    CHECK(cudaGraphNodeFindInClone(&twin, run, copied));
    expect("a node of a copy", twin && twin != run);
    CHECK(cudaGraphAddChildGraphNode(&nested, copied, &twin, 1, graph));
    CHECK(cudaGraphChildGraphNodeGetGraph(nested, &inner));
    CHECK(cudaGraphGetRootNodes(inner, nullptr, &count));
    expect("a graph in a node", inner != graph && count == 2);
    CHECK(cudaGraphAddEmptyNode(&first, inner, nullptr, 0));

    cudaUserObject_t object;
    CHECK(cudaUserObjectCreate(&object, &ended, end, 1, cudaUserObjectNoDestructorSync));
    CHECK(cudaGraphRetainUserObject(copied, object, 1, cudaGraphUserObjectMove));
    cudaGraphInstantiateParams how = {};
    cudaGraphExec_t exec = nullptr;
    CHECK(cudaGraphInstantiateWithParams(&exec, copied, &how));
    unsigned long long flags = 9;
    CHECK(cudaGraphExecGetFlags(exec, &flags));
    expect("instantiated", how.result_out == cudaGraphInstantiateSuccess && flags == 0);
    factor = 10;
    any = {};
    any.type = cudaGraphNodeTypeKernel;
    std::memcpy(&any.kernel, &kernel, sizeof kernel);
    CHECK(cudaGraphExecNodeSetParams(exec, twin, &any));
    CHECK(cudaGraphLaunch(exec, nullptr));
    CHECK(cudaDeviceSynchronize());
    expect("it runs, graph in graph", out[1] == 5 * 3 + 7 && ended == 0);
    // Others may draw at the same time.
    const std::string path = "/tmp/beamline-graph-queries-" + std::to_string(getpid()) + ".dot";
    CHECK(cudaGraphDebugDotPrint(copied, path.c_str(), 0));
    std::FILE* dot = std::fopen(path.c_str(), "r");
    expect("a drawing", dot && !std::fclose(dot) && !std::remove(path.c_str()));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(copied));
    CHECK(cudaGraphDestroy(graph));
    return verdict();
}
