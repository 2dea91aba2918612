// Calls every function that CUDA 12 and 13 pass other parameters to under the same name, as an application built for
// CUDA does that the macro of this name says. What it prints is the same for both.

#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void *handle;
struct location { int type, id; };
struct wrapper { unsigned magic, version; const void *data; void *more; };

extern int cudaDeviceSynchronize(void);
extern int cudaMalloc(void **, size_t);
extern int cudaMallocManaged(void **, size_t, unsigned);
extern int cudaMemcpy(void *, const void *, size_t, int);
extern int cudaMemRangeGetAttribute(void *, size_t, int, const void *, size_t);
extern int cudaStreamCreate(handle *);
extern int cudaStreamBeginCapture(handle, int);
extern int cudaStreamEndCapture(handle, handle *);
extern int cudaMemsetAsync(void *, int, size_t, handle);
extern int cudaEventCreate(handle *);
extern int cudaEventRecord(handle, handle);
extern int cudaGraphCreate(handle *, unsigned);
extern int cudaGraphAddEmptyNode(handle *, handle, const handle *, size_t);
extern int cudaGetDeviceProperties(), cudaGetDeviceProperties_v2();
extern int cudaEventElapsedTime(), cudaEventElapsedTime_v2();
extern int cudaGraphAddDependencies(), cudaGraphAddDependencies_v2();
extern int cudaGraphRemoveDependencies(), cudaGraphRemoveDependencies_v2();
extern int cudaGraphGetEdges(), cudaGraphGetEdges_v2();
extern int cudaGraphNodeGetDependencies(), cudaGraphNodeGetDependencies_v2();
extern int cudaGraphNodeGetDependentNodes(), cudaGraphNodeGetDependentNodes_v2();
extern int cudaGraphAddNode(), cudaGraphAddNode_v2();
extern int cudaMemAdvise(const void *, size_t, int, struct location);
extern int cudaMemAdvise_v2(const void *, size_t, int, struct location);
extern int cudaMemPrefetchAsync(const void *, size_t, struct location, unsigned, handle);
extern int cudaMemPrefetchAsync_v2(const void *, size_t, struct location, unsigned, handle);
extern int cudaMemcpyBatchAsync(), cudaMemcpy3DBatchAsync();
extern int cudaStreamGetCaptureInfo(), cudaStreamGetCaptureInfo_v2(), cudaStreamGetCaptureInfo_v3();
extern int cudaStreamUpdateCaptureDependencies(), cudaStreamUpdateCaptureDependencies_v2();

// Needed by the common build only.
extern const unsigned char fatbin[];
const void *unused = fatbin;

#define NONE ((handle)0)
// What was found is looked at after the call.
#define SAY(what, call, found) do { int error = call; printf("%s: %d %ld\n", what, error, (long)(found)); } while (0)

static void graphs(void) {
    handle graph, nodes[3], from[2] = {0}, to[2] = {0};
    size_t one = 1, count = 2;
    uint64_t data[2] = {7, 7};
    cudaGraphCreate(&graph, 0);
    cudaGraphAddEmptyNode(&nodes[0], graph, 0, 0);
    cudaGraphAddEmptyNode(&nodes[1], graph, 0, 0);
    struct { int type, reserved[3]; uint64_t words[30]; } params = {5};
#if CUDA == 12
    SAY("add", cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], one), 0);
    SAY("node", cudaGraphAddNode(&nodes[2], graph, nodes, one, &params), nodes[2] != 0);
    SAY("edges", cudaGraphGetEdges(graph, from, to, &count), count);
    SAY("before", cudaGraphNodeGetDependencies(nodes[1], from, &one), from[0] == nodes[0]);
    count = 2;
    SAY("behind", cudaGraphNodeGetDependentNodes(nodes[0], to, &count), count);
    SAY("remove", cudaGraphRemoveDependencies(graph, &nodes[0], &nodes[1], one), 0);
    SAY("add again", cudaGraphAddDependencies_v2(graph, &nodes[0], &nodes[1], NONE, one), 0);
    SAY("edges again", cudaGraphGetEdges_v2(graph, from, to, data, &count), count + data[0] + data[1]);
    SAY("before again", cudaGraphNodeGetDependencies_v2(nodes[1], from, NONE, &one), one);
    SAY("behind again", cudaGraphNodeGetDependentNodes_v2(nodes[0], to, NONE, &count), count);
    SAY("remove again", cudaGraphRemoveDependencies_v2(graph, &nodes[0], &nodes[1], NONE, one), 0);
    SAY("node again", cudaGraphAddNode_v2(&nodes[2], graph, nodes, NONE, one, &params), nodes[2] != 0);
#else
    SAY("add", cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], NONE, one), 0);
    SAY("node", cudaGraphAddNode(&nodes[2], graph, nodes, NONE, one, &params), nodes[2] != 0);
    SAY("edges", cudaGraphGetEdges(graph, from, to, NONE, &count), count);
    SAY("before", cudaGraphNodeGetDependencies(nodes[1], from, NONE, &one), from[0] == nodes[0]);
    count = 2;
    SAY("behind", cudaGraphNodeGetDependentNodes(nodes[0], to, NONE, &count), count);
    SAY("remove", cudaGraphRemoveDependencies(graph, &nodes[0], &nodes[1], NONE, one), 0);
    SAY("add again", cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], NONE, one), 0);
    SAY("edges again", cudaGraphGetEdges(graph, from, to, data, &count), count + data[0] + data[1]);
    SAY("before again", cudaGraphNodeGetDependencies(nodes[1], from, NONE, &one), one);
    SAY("behind again", cudaGraphNodeGetDependentNodes(nodes[0], to, NONE, &count), count);
    SAY("remove again", cudaGraphRemoveDependencies(graph, &nodes[0], &nodes[1], NONE, one), 0);
    SAY("node again", cudaGraphAddNode(&nodes[2], graph, nodes, NONE, one, &params), nodes[2] != 0);
#endif
}

static void memory(handle stream) {
    int *shared, place = -5, numbers[2] = {3, 40};
    struct location host = {2, 0};
    cudaMallocManaged((void **)&shared, 64, 1);
#if CUDA == 12
    // The number of a device is where the structure would be: -1, the host.
    int (*advise)(const void *, size_t, int, int) = (void *)cudaMemAdvise;
    int (*prefetch)(const void *, size_t, int, handle) = (void *)cudaMemPrefetchAsync;
    SAY("advise", advise(shared, 64, 3, -1), 0);
    SAY("prefetch", prefetch(shared, 64, -1, stream), 0);
    SAY("advise again", cudaMemAdvise_v2(shared, 64, 3, host), 0);
    SAY("prefetch again", cudaMemPrefetchAsync_v2(shared, 64, host, 0, stream), 0);
#else
    SAY("advise", cudaMemAdvise(shared, 64, 3, host), 0);
    SAY("prefetch", cudaMemPrefetchAsync(shared, 64, host, 0, stream), 0);
    SAY("advise again", cudaMemAdvise(shared, 64, 3, host), 0);
    SAY("prefetch again", cudaMemPrefetchAsync(shared, 64, host, 0, stream), 0);
#endif
    SAY("preferred", cudaMemRangeGetAttribute(&place, 4, 2, shared, 64), place);
    SAY("prefetched", cudaMemRangeGetAttribute(&place, 4, 4, shared, 64), place);
    void *device, *from = numbers;
    cudaMalloc(&device, sizeof numbers);
    size_t bytes = sizeof numbers, first = 0, failed = 5, one = 1;
    uint64_t how[3] = {1};
    struct { int type; uint64_t op[4]; } ends[2] = {{1, {(uintptr_t)device}}, {1, {(uintptr_t)shared}}};
    struct { uint64_t ends[10], extent[3]; int order, flags; } box = {{0}, {8, 1, 1}, 1, 0};
    memcpy(box.ends, ends, sizeof ends);
#if CUDA == 12
    SAY("batch", cudaMemcpyBatchAsync(&device, &from, &bytes, one, how, &first, one, &failed, stream), failed + 1);
    SAY("boxes", cudaMemcpy3DBatchAsync(one, &box, &failed, (uint64_t)0, stream), failed + 1);
#else
    SAY("batch", cudaMemcpyBatchAsync(&device, &from, &bytes, one, how, &first, one, stream), 0);
    SAY("boxes", cudaMemcpy3DBatchAsync(one, &box, (uint64_t)0, stream), 0);
#endif
    cudaDeviceSynchronize();
    SAY("copied", 0, shared[0] + shared[1]);
}

static void captures(handle stream, void *device) {
    int status = 9;
    unsigned long long id = 0;
    handle graph = 0, *ends = 0;
    size_t count = 9, one = 1;
    cudaStreamBeginCapture(stream, 2);
    cudaMemsetAsync(device, 0, 4, stream);
#if CUDA == 12
    SAY("captured", cudaStreamGetCaptureInfo(stream, &status, &id), status);
    SAY("in full", cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &ends, &count), count);
    SAY("update", cudaStreamUpdateCaptureDependencies(stream, ends, one, 1), 0);
    SAY("with data", cudaStreamGetCaptureInfo_v3(stream, &status, &id, &graph, &ends, NONE, &count), count);
    SAY("update again", cudaStreamUpdateCaptureDependencies_v2(stream, NONE, NONE, (size_t)0, 1), 0);
#else
    SAY("captured", cudaStreamGetCaptureInfo(stream, &status, &id, NONE, NONE, NONE, NONE), status);
    SAY("in full", cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &ends, NONE, &count), count);
    SAY("update", cudaStreamUpdateCaptureDependencies(stream, ends, NONE, one, 1), 0);
    SAY("with data", cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &ends, NONE, &count), count);
    SAY("update again", cudaStreamUpdateCaptureDependencies(stream, NONE, NONE, (size_t)0, 1), 0);
#endif
    // Nothing leads to the node that was captured now.
    SAY("unjoined", cudaStreamEndCapture(stream, &graph), graph == 0);
}

static void device(handle stream) {
    char properties[2048] = {0};
    int processors;
    float milliseconds = -1;
    handle events[2];
    for (int i = 0; i < 2; ++i) cudaEventCreate(&events[i]), cudaEventRecord(events[i], stream);
#if CUDA == 12
    SAY("properties", cudaGetDeviceProperties(properties, 0), properties[728]);
    cudaGetDeviceProperties_v2(properties, 0);
    memcpy(&processors, properties + 388, 4);
    SAY("elapsed again", cudaEventElapsedTime_v2(&milliseconds, events[0], events[1]), milliseconds >= 0);
#else
    SAY("properties", cudaGetDeviceProperties(properties, 0), properties[1008]);
    memcpy(&processors, properties + 384, 4);
    SAY("elapsed again", cudaEventElapsedTime(&milliseconds, events[0], events[1]), milliseconds >= 0);
#endif
    SAY("elapsed", cudaEventElapsedTime(&milliseconds, events[0], events[1]), processors);
}

int main(void) {
    handle stream;
    void *numbers;
    cudaStreamCreate(&stream);
    cudaMalloc(&numbers, 4);
    graphs();
    memory(stream);
    captures(stream, numbers);
    device(stream);
    return 0;
}
