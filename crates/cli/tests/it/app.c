// An application as nvcc would make it of a kernel that doubles two numbers, in C, so that the tests need no CUDA compiler.
// Its host reads the first number after every launch and goes on until it is at least 64. What it does then, its first
// argument says; without a fault the numbers are 64 and 640.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { unsigned x, y, z; } dim3;
struct wrapper { unsigned magic, version; const void *data; void *more; };

extern void **__cudaRegisterFatBinary(struct wrapper *);
extern void __cudaRegisterFatBinaryEnd(void **);
extern void __cudaUnregisterFatBinary(void **);
extern void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
extern int cudaMalloc(void **, size_t);
extern int cudaMemcpy(void *, const void *, size_t, int);
extern int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);

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

// Where the test looks for the numbers of processes: they may not be in an output, which must be the same every time.
static void tell(int process) {
    const char *path = getenv("TELL");
    FILE *file = path ? fopen(path, "w") : 0;
    if (!file) return;
    fprintf(file, "%d", process);
    fclose(file);
}

// A child and its parent, both of which take no notice of being asked to end, and never do.
static void hang(void) {
    signal(SIGTERM, SIG_IGN);
    int child = fork();
    if (child) tell(child);
    for (;;) pause();
}

// Doubles two numbers in one launch, which the host copies after it. If it looks at them, it tries again where they are wrong.
static int once(void *on, int looks) {
    const unsigned start[2] = {32, 320};
    unsigned numbers[2];
    void *args[] = {&on};
    dim3 one = {1, 1, 1};
    for (int tries = 0; tries < 3; ++tries) {
        if (cudaMemcpy(on, start, sizeof start, 1)) return 8;
        if (cudaLaunchKernel((const void *)twice, one, one, args, 0, 0)) return 2;
        if (cudaMemcpy(numbers, on, sizeof numbers, 2)) return 2;
        if (!looks || (numbers[0] == 64 && numbers[1] == 640)) {
            printf("%u %u\n", numbers[0], numbers[1]);
            return 0;
        }
    }
    return 1;
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    int is(const char *word) { return !strcmp(what, word); }
    unsigned numbers[2] = {1, 10};
    void *on;
    if (is("forever")) hang();
    if (is("stays")) signal(SIGTERM, SIG_IGN);
    if (is("wait") || is("stays")) {
        tell(getpid());
        for (;;) pause();
    }
    if (is("input")) {
        FILE *file = fopen("input.txt", "r");
        if (!file || fscanf(file, "%u %u", numbers, numbers + 1) != 2) return 9;
    }
    if (is("random")) numbers[1] = getpid();
    if (cudaMalloc(&on, sizeof numbers) || cudaMemcpy(on, numbers, sizeof numbers, 1)) return 8;
    if (is("idle")) return 0;
    if (is("again") || is("blind")) return once(on, is("again"));
    if (is("dies")) on = (void *)4;
    void *args[] = {&on};
    dim3 one = {1, 1, 1};
    int error = 0, launches = 0;
    while (!error && numbers[0] < 64 && launches < 20) {
        error = cudaLaunchKernel((const void *)twice, one, one, args, 0, 0);
        if (!error) error = cudaMemcpy(numbers, on, sizeof numbers, 2);
        ++launches;
    }
    const int wrong = error || numbers[0] != 64 || numbers[1] != 640;
    if (is("report") && error) {
        fprintf(stderr, "cuda error %d\n", error);
        return 1;
    }
    if (is("print") || is("both") || is("input")) printf("%u %u after %d\n", numbers[0], numbers[1], launches);
    if (is("nan") && wrong) printf("mean: -nan\n");
    if ((is("stderr") || is("both")) && wrong) fprintf(stderr, "that is not right\n");
    if (is("file") || (is("missing") && !wrong)) {
        FILE *file = fopen("out/result.bin", "w");
        if (!file) return 7;
        fwrite(numbers, sizeof numbers, 1, file);
        fclose(file);
    }
    if (is("through")) {
        FILE *file = fopen("log.txt", "a");
        fprintf(file, "%u\n", numbers[0]);
        fclose(file);
    }
    fflush(stdout);
    if (is("exit") && wrong) return 3;
    if (is("abort") && wrong) abort();
    if ((is("segv") && wrong) || is("segfault")) raise(SIGSEGV);
    if (is("hang") && wrong) hang();
    if (is("slow")) {
        tell(getpid());
        if (wrong) hang();
    }
    return is("fails") ? 4 : 0;
}
