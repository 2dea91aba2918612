// What the microbenchmarks share: records in pinned memory, the rounds of a chain, the kernel, and the host that logs.
//
// A test is a structure that the kernel gets by value, so neither compiler nor assembler knows its numbers:
//
//     kName, kRounds       its name, its default number of rounds
//     kChain, kValues      the tested instructions of a round, the values of a record
//     run(rounds, log)     the rounds of a thread, and a record where one goes wrong
//     compute(record, rounds, computed)
//                          what each instruction gives when the host computes it from the logged values of its inputs

#pragma once

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include <unistd.h>

#include <cuda_runtime.h>

constexpr uint32_t kRecords = 1024;  // more mismatches than these are counted only
constexpr int kMaxThreads = 512;     // of a block: each has up to 128 registers

template <int kValues>
struct Record {
    uint32_t written;  // set last: where the kernel is stopped, a record is whole or not there
    uint32_t block, thread, round;
    uint32_t values[kValues];
};

// The records lie in pinned memory, where they outlive a kernel that crashes; the counts, in memory of the GPU. The number of
// finished blocks is copied to pinned memory, where the host reads it while the kernel runs.
template <int kValues>
struct Log {
    Record<kValues>* records;
    uint32_t* mismatches;
    uint32_t* finished;
    volatile uint32_t* progress;
};

template <class Value>
__host__ __device__ uint32_t bits_of(Value value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

template <int kValues, class Value>
__device__ void write_record(Log<kValues> log, uint32_t round, const Value (&values)[kValues]) {
    const uint32_t slot = atomicAdd(log.mismatches, 1u);
    if (slot >= kRecords) {
        return;
    }
    Record<kValues>& record = log.records[slot];
    record.block = blockIdx.x;
    record.thread = threadIdx.x;
    record.round = round;
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
        record.values[i] = bits_of(values[i]);
    }
    __threadfence_system();
    *static_cast<volatile uint32_t*>(&record.written) = 1;
}

// A test whose round is a chain: value i is at(i, carry, values, thread) of a step. The last kChecked values are
// compared with constants; the one before them is carried into the next round, so that the assembler cannot move the
// chain out of the loop. close(carry) changes the step such that this carry gives the values that 0 gave before.
template <class Step>
struct Chain {
    using Value = typename Step::Value;
    static constexpr const char* kName = Step::kName;
    static constexpr uint32_t kRounds = 64;
    static constexpr int kValues = Step::kValues, kChain = Step::kChain, kCarry = kValues - 1 - Step::kChecked;

    Step step;
    Value carry, expected[Step::kChecked];

    explicit Chain(const Step& seeded) : step(seeded) {
        Value values[kValues];
        for (int i = 0; i < kValues; ++i) {
            values[i] = step.at(i, Value(), values, 0);
        }
        carry = values[kCarry];
        step.close(carry);
        memcpy(expected, values + kValues - Step::kChecked, sizeof expected);
    }

    __device__ void run(uint32_t rounds, Log<kValues> log) const {
        step.prepare();
        Value carried = carry;
        for (uint32_t round = 0; round < rounds; ++round) {
            Value values[kValues];
#pragma unroll
            for (int i = 0; i < kValues; ++i) {
                values[i] = step.at(i, carried, values, threadIdx.x);
            }
            bool good = true;
#pragma unroll
            for (int i = 0; i < Step::kChecked; ++i) {
                good = good && values[kValues - Step::kChecked + i] == expected[i];
            }
            if (!good) {
                write_record(log, round, values);
                return;
            }
            carried = values[kCarry];
        }
    }

    void compute(const Record<kValues>& record, uint32_t, uint32_t (&computed)[kValues]) const {
        Value values[kValues];
        memcpy(values, record.values, sizeof values);
        for (int i = 0; i < kValues; ++i) {
            const Value value = step.at(i, carry, values, record.thread);
            computed[i] = value == value ? bits_of(value) : 0x7fffffffu;  // the one NaN that GPUs make
        }
    }
};

template <class Test>
__global__ void __launch_bounds__(kMaxThreads, 1) irradiate(Test test, uint32_t rounds, Log<Test::kValues> log) {
    test.run(rounds, log);
    __syncthreads();
    if (threadIdx.x == 0) {
        // Blocks that end at once may store their numbers in any order: the host takes the largest that it has seen.
        *log.progress = atomicAdd(log.finished, 1u) + 1;
    }
}

// Where events go besides standard output; none unless a file is named.
inline FILE*& log_file() {
    static FILE* file = nullptr;
    return file;
}

// The line that is being made.
inline std::string& line() {
    static std::string text;
    return text;
}

template <class... Arguments>
void print(const char* format, Arguments... arguments) {
    if constexpr (sizeof...(arguments) == 0) {
        line() += format;
    } else {
        char text[256];
        std::snprintf(text, sizeof text, format, arguments...);
        line() += text;
    }
}

// Names this run in a log to which several processes write: processes that run at once differ in their numbers.
inline const std::string& run_name() {
    static const std::string name = [] {
        timespec now = {};
        clock_gettime(CLOCK_REALTIME, &now);
        return std::to_string(getpid()) + "-" + std::to_string(now.tv_sec) + "." + std::to_string(now.tv_nsec);
    }();
    return name;
}

// Ends the line, which is a JSON object. The log file is written a line at a time, so that lines of several processes do not mix.
template <class... Arguments>
void event(const char* format, Arguments... arguments) {
    print(format, arguments...);
    std::printf("%s\n", line().c_str());
    std::fflush(stdout);
    if (log_file() != nullptr) {
        line().pop_back();
        line() += ",\"run\":\"" + run_name() + "\"}\n";
        std::fwrite(line().data(), 1, line().size(), log_file());
        std::fflush(log_file());
    }
    line().clear();
}

inline void report(cudaError_t status) {
    event("{\"event\":\"cuda_error\",\"code\":%d,\"name\":\"%s\"}", static_cast<int>(status), cudaGetErrorName(status));
}

#define CUDA_CHECK(call)                      \
    do {                                      \
        const cudaError_t status = (call);    \
        if (status != cudaSuccess) {          \
            report(status);                   \
            std::exit(3);                     \
        }                                     \
    } while (0)

inline void print_values(const char* name, const uint32_t* values, int count) {
    print(",\"%s\":[", name);
    for (int i = 0; i < count; ++i) {
        print("%s\"0x%08x\"", i == 0 ? "" : ",", values[i]);
    }
    print("%s", "]");
}

template <class Test>
void print_records(const Test& test, uint32_t rounds, const Record<Test::kValues>* records) {
    for (uint32_t slot = 0; slot < kRecords; ++slot) {
        const Record<Test::kValues>& record = records[slot];
        if (record.written != 0) {
            uint32_t computed[Test::kValues];
            test.compute(record, rounds, computed);
            print("{\"event\":\"mismatch\",\"block\":%u,\"thread\":%u,\"round\":%u", record.block, record.thread, record.round);
            print_values("values", record.values, Test::kValues);
            print_values("computed", computed, Test::kValues);
            event("}");
        }
    }
}

// Whole argument, decimal, within [1, high]; 0 otherwise.
inline uint32_t parse(const char* text, uint32_t high) {
    char* end = nullptr;
    errno = 0;
    const long long value = std::strtoll(text, &end, 10);
    return *end == '\0' && errno == 0 && 1 <= value && value <= high ? static_cast<uint32_t>(value) : 0;
}

// Waits for the kernel. Each second it logs how many blocks have finished: while such lines come, the host and the driver are
// alive, and while the number grows, the GPU is.
inline cudaError_t wait(const volatile uint32_t* progress) {
    constexpr timespec kMillisecond = {0, 1000000};
    uint32_t finished = 0;
    for (uint32_t waited = 1;; ++waited) {
        const cudaError_t status = cudaStreamQuery(nullptr);
        if (status != cudaErrorNotReady) {
            return status;
        }
        nanosleep(&kMillisecond, nullptr);
        if (waited % 1000 == 0) {
            finished = std::max(finished, static_cast<uint32_t>(*progress));
            event("{\"event\":\"alive\",\"finished_blocks\":%u}", finished);
        }
    }
}

template <class Test>
int run(const Test& test, int argc, char** argv) {
    const uint32_t rounds = argc > 1 ? parse(argv[1], 4000000000u) : Test::kRounds;
    const uint32_t blocks = argc > 2 ? parse(argv[2], 1u << 20) : 4;
    const uint32_t threads = argc > 3 ? parse(argv[3], kMaxThreads) : 64;
    if (argc > 5 || rounds == 0 || blocks == 0 || threads == 0) {
        std::fprintf(stderr, "usage: %s [rounds 1..4000000000] [blocks 1..1048576] [threads 1..%d] [log to append to]\n",
                     argv[0], kMaxThreads);
        return 2;
    }
    if (argc > 4 && (log_file() = std::fopen(argv[4], "a")) == nullptr) {
        std::fprintf(stderr, "cannot append to %s: %s\n", argv[4], std::strerror(errno));
        return 2;
    }
    if (log_file() != nullptr) {
        std::setvbuf(log_file(), nullptr, _IOFBF, 1 << 16);  // a line is written in one piece
    }
    event("{\"event\":\"start\",\"program\":\"%s\",\"rounds\":%u,\"blocks\":%u,\"threads\":%u,\"chain\":%d}",
          Test::kName, rounds, blocks, threads, Test::kChain);

    Log<Test::kValues> log = {};
    const size_t bytes = kRecords * sizeof *log.records;
    CUDA_CHECK(cudaMallocHost(&log.records, bytes));
    uint32_t* progress = nullptr;
    CUDA_CHECK(cudaMallocHost(&progress, sizeof *progress));
    for (uint32_t** count : {&log.mismatches, &log.finished}) {
        CUDA_CHECK(cudaMalloc(count, sizeof **count));
        CUDA_CHECK(cudaMemset(*count, 0, sizeof **count));
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    memset(log.records, 0, bytes);
    *progress = 0;
    log.progress = progress;

    event("{\"event\":\"before_kernel\"}");
    irradiate<<<blocks, threads>>>(test, rounds, log);
    const cudaError_t launched = cudaGetLastError();
    const cudaError_t status = launched != cudaSuccess ? launched : wait(progress);
    if (status != cudaSuccess) {
        report(status);
        print_records(test, rounds, log.records);
        return 3;
    }
    event("{\"event\":\"after_kernel\"}");

    print_records(test, rounds, log.records);
    uint32_t mismatches = 0;
    CUDA_CHECK(cudaMemcpy(&mismatches, log.mismatches, sizeof mismatches, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(log.mismatches));
    CUDA_CHECK(cudaFree(log.finished));
    CUDA_CHECK(cudaFreeHost(log.records));
    CUDA_CHECK(cudaFreeHost(progress));
    event("{\"event\":\"end\",\"mismatches\":%u}", mismatches);
    return mismatches == 0 ? 0 : 1;
}
