// An application as nvcc would make it of a kernel that doubles two numbers, in C, so that the tests need no CUDA compiler.
// Its first argument says what it does.

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct { unsigned x, y, z; } dim3;
struct wrapper { unsigned magic, version; const void *data; void *more; };

extern void **__cudaRegisterFatBinary(struct wrapper *);
extern void __cudaRegisterFatBinaryEnd(void **);
extern void __cudaUnregisterFatBinary(void **);
extern void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
extern int cudaMalloc(void **, size_t);
extern int cudaMallocHost(void **, size_t);
extern int cudaMallocManaged(void **, size_t, unsigned);
extern int cudaFree(void *);
extern int cudaFreeHost(void *);
extern int cudaMemcpy(void *, const void *, size_t, int);
extern int cudaMemset(void *, int, size_t);
extern int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
extern int cudaDeviceSynchronize(void);
extern int cudaGetLastError(void);
extern int cudaImportExternalMemory(void *, void *);
extern int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
extern int cudaSetDevice(int);
extern const char *cudaGetErrorName(int);
extern int cudaDeviceSetLimit(int, size_t);
extern int cudaDeviceGetLimit(size_t *, int);
extern int cudaLibraryLoadData(void **, const void *, void *, void *, unsigned, void *, void *, unsigned);
extern int cudaLibraryGetKernel(void **, void *, const char *);
extern int cudaFuncGetAttributes(void *, const void *);

extern const unsigned char fatbin[];
static struct wrapper wrapper __attribute__((section(".nvFatBinSegment"))) = {0x466243b1, 1, fatbin, 0};
static void **handle;

static void twice(void) {}
static void unregister(void) { __cudaUnregisterFatBinary(handle); }

__attribute__((constructor)) static void startup(void) {
    handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, (const char *)twice, "twice", "twice", -1, 0, 0, 0, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    atexit(unregister);
}

static int launch(void *on) {
    void *args[] = {&on};
    dim3 one = {1, 1, 1};
    return cudaLaunchKernel((const void *)twice, one, one, args, 0, 0);
}

static void say(const char *what, int error) { printf("%s: %s\n", what, cudaGetErrorName(error)); }

static void copied(void) {
    int numbers[2] = {3, 40};
    void *on;
    cudaMalloc(&on, sizeof numbers);
    cudaMemcpy(on, numbers, sizeof numbers, 1);
    say("launch", launch(on));
    cudaMemcpy(numbers, on, sizeof numbers, 2);
    cudaFree(on);
    printf("%d %d\n", numbers[0], numbers[1]);
}

static void shared(int managed) {
    int *numbers;
    int error = managed ? cudaMallocManaged((void **)&numbers, 8, 1) : cudaMallocHost((void **)&numbers, 8);
    say("allocate", error);
    numbers[0] = 3;
    numbers[1] = 40;
    launch(numbers);
    cudaDeviceSynchronize();
    printf("%d %d\n", numbers[0], numbers[1]);
    numbers[0] = 5;
    launch(numbers);
    cudaDeviceSynchronize();
    printf("%d %d\n", numbers[0], numbers[1]);
    say("free", managed ? cudaFree(numbers) : cudaFreeHost(numbers));
}

// The host looks at pinned memory between launches without waiting, as if it polled.
static void polled(void) {
    int *numbers, sum = 0;
    say("allocate", cudaMallocHost((void **)&numbers, 8));
    numbers[0] = 3;
    numbers[1] = 40;
    for (int turn = 0; turn < 3; turn++) {
        launch(numbers);
        sum += numbers[0];
    }
    cudaDeviceSynchronize();
    printf("%d\n", sum);
}

static void trap(void *on_what) {
    say("launch", launch(on_what));
    say("last error", cudaGetLastError());
    say("synchronize", cudaDeviceSynchronize());
    void *on;
    say("allocate", cudaMalloc(&on, 4));
}

// An address far behind what a GPU maps.
static void beyond(void) {
    char *on;
    cudaMalloc((void **)&on, 4096);
    trap(on + (128 << 20));
}

static void misuse(void) {
    dim3 one = {1, 1, 1}, none = {0, 1, 1}, many = {2048, 1, 1};
    char *on, bytes[128];
    void *args[] = {&on};
    cudaMalloc((void **)&on, 64);
    cudaLaunchKernel((const void *)twice, none, one, args, 0, 0);
    cudaLaunchKernel((const void *)twice, one, many, args, 0, 0);
    cudaLaunchKernel((const void *)twice, one, one, args, 1 << 16, 0);
    cudaMemcpy(on, bytes, sizeof bytes, 1);
    cudaFree(on);
    cudaFree(on);
    cudaMemcpyToSymbol((const void *)64, bytes, 4, 0, 1);
    cudaSetDevice(7);
}

// From now on the host has 256 MB more than the application has now.
static void confine(void) {
    size_t pages = 0;
    FILE *size = fopen("/proc/self/statm", "r");
    if (!size || fscanf(size, "%zu", &pages) != 1) abort();
    fclose(size);
    struct rlimit limit = {(pages << 12) + (256 << 20), RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
}

static void filled(void) {
    size_t large = (size_t)15 << 30;
    char *on, bytes[2];
    say("allocate", cudaMalloc((void **)&on, large));
    confine();
    say("fill all", cudaMemset(on, 1, large));
    say("fill a part", cudaMemset(on, 2, 64 << 20));
    say("copy too much", cudaMemcpy(on + (1 << 30), on, 1 << 30, 3));
    say("clear all", cudaMemset(on + 1, 0, large - 1));
    say("copy a part", cudaMemcpy(on + (1 << 30) - 1, on, 64 << 20, 3));
    cudaMemcpy(bytes, on + (1 << 30) - 1, 2, 2);
    printf("%d %d\n", bytes[0], bytes[1]);
}

// Allocates on the GPU, says where, and writes to as many bytes of it as it is told.
static const char taking[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".extern .func (.param .b64 where) malloc (.param .b64 bytes);\n"
    ".visible .entry take(.param .u64 out, .param .u64 bytes, .param .u64 used) {\n"
    ".reg .b64 %rd<5>; .reg .b32 %r<2>; .reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [bytes]; ld.param.u64 %rd3, [used];\n"
    "{ .param .b64 bytes0; .param .b64 where0; st.param.b64 [bytes0], %rd2;\n"
    "call.uni (where0), malloc, (bytes0); ld.param.b64 %rd4, [where0]; }\n"
    "st.global.u64 [%rd1], %rd4; setp.eq.u64 %p1, %rd4, 0; @%p1 ret;\n"
    "add.u64 %rd3, %rd3, %rd4; mov.u32 %r1, 7;\n"
    "more: setp.ge.u64 %p1, %rd4, %rd3; @%p1 ret;\n"
    "st.u8 [%rd4], %r1; add.u64 %rd4, %rd4, 4096; bra more;\n}\n";

static void take(const char *what, size_t bytes, size_t used) {
    static void *library, *kernel, *out;
    dim3 one = {1, 1, 1};
    if (!kernel) {
        cudaMalloc(&out, 8);
        if (cudaLibraryLoadData(&library, taking, 0, 0, 0, 0, 0, 0)) abort();
        if (cudaLibraryGetKernel(&kernel, library, "take")) abort();
    }
    size_t where = 1;
    void *args[] = {&out, &bytes, &used};
    int error = cudaLaunchKernel(kernel, one, one, args, 0, 0);
    cudaMemcpy(&where, out, 8, 2);
    printf("%s: %s, %s\n", what, cudaGetErrorName(error), where ? "some" : "none");
}

// A heap of device code as large as is asked for.
static void heap(const char *asked) {
    size_t limit = 1;
    say("set", cudaDeviceSetLimit(2, strtoull(asked, 0, 10)));
    cudaDeviceGetLimit(&limit, 2);
    printf("%zu\n", limit);
    take("a little", 64, 64);
    say("set again", cudaDeviceSetLimit(2, 1 << 20));
    take("all but 1 MiB", limit - (1 << 20), 0);
}

static void crowded(void) {
    char *on;
    size_t out = 0;
    cudaDeviceSetLimit(2, (size_t)1 << 40);
    take("a little", 64, 64);
    confine();
    take("4 GiB, all of it used", (size_t)4 << 30, (size_t)4 << 30);
    say("synchronize", cudaDeviceSynchronize());
    say("allocate", cudaMalloc((void **)&on, 64));
    say("read", cudaMemcpy(&out, on, 8, 2));
}

static void opened(void) {
    int (*count)(int *);
    int devices = 0;
    void *library = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
    *(void **)&count = library ? dlsym(library, "cudaGetDeviceCount") : 0;
    int error = count ? count(&devices) : -1;
    printf("%d %d\n", error, devices);
}

static void *launched(void *on) {
    launch(on);
    return 0;
}

static void threads(void) {
    pthread_t two[2];
    void *on;
    cudaMalloc(&on, 8);
    cudaMemset(on, 0, 8);
    for (int at = 0; at < 2; at++) pthread_create(&two[at], 0, launched, on);
    for (int at = 0; at < 2; at++) pthread_join(two[at], 0);
    printf("%d\n", cudaDeviceSynchronize());
}

// A program that starts itself, as launchers do; both launch one kernel.
static void family(int is_child) {
    void *on;
    if (!is_child) {
        int process = fork(), status;
        if (!process) execl("/proc/self/exe", "self", "child", (char *)0);
        waitpid(process, &status, 0);
    }
    cudaMalloc(&on, 8);
    cudaMemset(on, 0, 8);
    launched(on);
    printf("%d\n", cudaDeviceSynchronize());
}

// One kernel holds an instruction that is not supported; the other one does not.
static void refused(int launched) {
    static const char text[] = ".version 9.0 .target sm_90a .address_size 64\n"
        ".visible .entry other() { wgmma.fence.sync.aligned; ret; }\n"
        ".visible .entry k(.param .u64 on) { .reg .u64 p; .reg .u32 r;\n"
        "ld.param.u64 p, [on]; mov.u32 r, 9; st.global.u32 [p], r; ret; }\n";
    void *library, *kernel, *other, *on;
    char attributes[512];
    int number = 0;
    dim3 one = {1, 1, 1};
    say("load", cudaLibraryLoadData(&library, text, 0, 0, 0, 0, 0, 0));
    say("kernel", cudaLibraryGetKernel(&kernel, library, "k"));
    say("other", cudaLibraryGetKernel(&other, library, "other"));
    cudaMalloc(&on, sizeof number);
    void *args[] = {&on};
    say("launch", cudaLaunchKernel(kernel, one, one, args, 0, 0));
    cudaMemcpy(&number, on, sizeof number, 2);
    printf("%d\n", number);
    if (launched) {
        say("launch the other", cudaLaunchKernel(other, one, one, 0, 0, 0));
        say("attributes", cudaFuncGetAttributes(attributes, other));
    }
}

/* A handler of a signal that ends for an error. */
static void leave(int signal) {
    (void)signal;
    _exit(4);
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    char handle[64];
    if (!strcmp(what, "polled")) polled();
    else if (!strcmp(what, "managed") || !strcmp(what, "pinned")) shared(what[0] == 'm');
    else if (!strcmp(what, "trap")) trap(0);
    else if (!strcmp(what, "host")) trap(handle);
    else if (!strcmp(what, "beyond")) beyond();
    else if (!strcmp(what, "misuse")) misuse();
    else if (!strcmp(what, "filled")) filled();
    else if (!strcmp(what, "opened")) opened();
    else if (!strncmp(what, "heap ", 5)) heap(what + 5);
    else if (!strcmp(what, "crowded")) crowded();
    else if (!strncmp(what, "refused", 7)) refused(what[7] != 0);
    else if (!strcmp(what, "threads")) threads();
    else if (!strcmp(what, "family")) family(0);
    else if (!strcmp(what, "child")) family(1);
    else if (!strcmp(what, "unsupported")) {
        say("first", cudaImportExternalMemory(handle, 0));
        say("second", cudaImportExternalMemory(handle, 0));
    } else copied();
    fflush(stdout);
    if (!strcmp(what, "exit")) exit(3);
    if (!strcmp(what, "_exit")) _exit(0);
    if (!strcmp(what, "_Exit")) _Exit(0);
    if (!strcmp(what, "quick_exit")) quick_exit(0);
    if (!strcmp(what, "_exit3")) _exit(3);
    if (!strcmp(what, "quick_exit3")) quick_exit(3);
    if (!strcmp(what, "handler")) {
        signal(SIGSEGV, leave);
        raise(SIGSEGV);
    }
    if (!strcmp(what, "abort")) abort();
    return 0;
}
