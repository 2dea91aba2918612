// isetp: integer comparisons (ISETP). Each writes a predicate, its outcome exclusive-or the predicate before, so an
// error runs on to the last one. There are seven predicate registers: a round is seven comparisons, after which all of
// them are as they were written, and a branch on the last one is the check. The sixth is carried into the next round.
// Compared are equal numbers, where outcomes are the most sensitive.

#include "microbenchmark.h"

#define ROUND(n)                               \
    "setp.eq.xor.s32 p0, %9, %11, p5;"         \
    "setp.ne.xor.s32 p1, %10, %12, p0;"        \
    "setp.lt.xor.s32 p2, %9, %13, p1;"         \
    "setp.ge.xor.s32 p3, %10, %14, p2;"        \
    "setp.gt.xor.s32 p4, %9, %15, p3;"         \
    "setp.ne.xor.s32 p5, %10, %16, p4;"        \
    "setp.le.xor.s32 p6, %9, %17, p5;"         \
    "@p6 bra WRONG" #n ";"

struct Isetp {
    static constexpr const char* kName = "isetp";
    static constexpr uint32_t kRounds = 512;
    static constexpr int kChain = 7, kValues = kChain;

    uint32_t carry;
    int32_t x[2], y[kChain];

    __device__ void run(uint32_t rounds, Log<kValues> log) const {
        uint32_t values[kValues] = {}, round = 0, wrong = 0;
        asm volatile(
            "{ .reg .pred p<7>, more;"
            "setp.ne.u32 p5, %18, 0;"
            "EIGHT:" ROUND(0) ROUND(1) ROUND(2) ROUND(3) ROUND(4) ROUND(5) ROUND(6) ROUND(7)
            "add.u32 %7, %7, 8;"
            "setp.lt.u32 more, %7, %19;"
            "@more bra EIGHT;"
            "bra DONE;"
            "WRONG7: add.u32 %7, %7, 1;"
            "WRONG6: add.u32 %7, %7, 1;"
            "WRONG5: add.u32 %7, %7, 1;"
            "WRONG4: add.u32 %7, %7, 1;"
            "WRONG3: add.u32 %7, %7, 1;"
            "WRONG2: add.u32 %7, %7, 1;"
            "WRONG1: add.u32 %7, %7, 1;"
            "WRONG0: mov.u32 %8, 1;"
            "selp.u32 %0, 1, 0, p0;"
            "selp.u32 %1, 1, 0, p1;"
            "selp.u32 %2, 1, 0, p2;"
            "selp.u32 %3, 1, 0, p3;"
            "selp.u32 %4, 1, 0, p4;"
            "selp.u32 %5, 1, 0, p5;"
            "selp.u32 %6, 1, 0, p6;"
            "DONE: }"
            : "+r"(values[0]), "+r"(values[1]), "+r"(values[2]), "+r"(values[3]), "+r"(values[4]), "+r"(values[5]),
              "+r"(values[6]), "+r"(round), "+r"(wrong)
            : "r"(x[0]), "r"(x[1]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]),
              "r"(carry), "r"(rounds));
        if (wrong != 0) {
            write_record(log, round, values);
        }
    }

    void compute(const Record<kValues>& record, uint32_t, uint32_t (&computed)[kValues]) const {
        const bool outcomes[kChain] = {x[0] == y[0], x[1] != y[1], x[0] < y[2], x[1] >= y[3],
                                       x[0] > y[4],  x[1] != y[5], x[0] <= y[6]};
        for (int i = 0; i < kValues; ++i) {
            computed[i] = outcomes[i] ^ (i == 0 ? carry : record.values[i - 1]);
        }
    }
};

int main(int argc, char** argv) {
    const int32_t x = 0x2545f491;
    return run(Isetp{1, {x, ~x}, {x, ~x, x, ~x, x, ~x, x}}, argc, argv);
}
