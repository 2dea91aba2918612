// Device code that the application loads itself: kernels and variables by name, and what is not there.

#include "check.h"

static const char* code = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 step = 5;
.visible .entry advance(.param .u64 data)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [data];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r2, [step];
    ld.global.u32 %r3, [%rd4];
    add.s32 %r3, %r3, %r2;
    st.global.u32 [%rd4], %r3;
    ret;
}
)";

int main()
{
    cudaLibrary_t library = nullptr;
    CHECK(cudaLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0));
    unsigned count = 0;
    CHECK(cudaLibraryGetKernelCount(&count, library));
    cudaKernel_t kernel = nullptr, listed = nullptr;
    CHECK(cudaLibraryGetKernel(&kernel, library, "advance"));
    CHECK(cudaLibraryEnumerateKernels(&listed, 1, library));
    expect("one kernel", count == 1 && listed == kernel);
    expect("no such kernel", cudaLibraryGetKernel(&listed, library, "retreat") == cudaErrorSymbolNotFound);

    std::vector<int> in(64);
    for (int i = 0; i < 64; ++i) in[i] = i;
    int* data = upload(in);
    void* args[] = {&data};
    CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(64), args, 0, nullptr));
    expect("it runs", download(data, 64)[63] == 68);

    void* step = nullptr;
    size_t bytes = 0;
    CHECK(cudaLibraryGetGlobal(&step, &bytes, library, "step"));
    int other = 100;
    CHECK(cudaMemcpy(step, &other, sizeof other, cudaMemcpyHostToDevice));
    CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(64), args, 0, nullptr));
    expect("its variable", bytes == 4 && download(data, 64)[0] == 105);
    expect("no such variable", cudaLibraryGetGlobal(&step, &bytes, library, "stride") == cudaErrorSymbolNotFound);
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
    expect("what it needs", attributes.sharedSizeBytes == 0 && attributes.maxThreadsPerBlock == 1024);
    CHECK(cudaLibraryUnload(library));
    library = nullptr;
    expect("no such file", cudaLibraryLoadFromFile(&library, "/does/not/exist", nullptr, nullptr, 0, nullptr, nullptr, 0)
        == cudaErrorFileNotFound);
    cudaGetLastError();
    return verdict();
}
