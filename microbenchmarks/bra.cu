// bra: branches (BRA). A round is a chain of taken branches, each of which leads to the next one, past filler branches
// that lead to the record routine and are never executed in a fault-free run. The number of a filler branch is ten
// times that of the link that it follows, plus its place there.

#include "microbenchmark.h"

#define FILL(n, p) "@" #p " bra F" #n ";"
#define TELL(n) "F" #n ": mov.u32 %0, " #n "; bra RECORD;"

// A link branches on the predicate p, its fillers on the others; all are true.
#define LINK(n, next, p, q, r, s, t, u)                                                                           \
    "L" #n ": @" #p " bra L" #next ";"                                                                            \
    FILL(n##1, q) FILL(n##2, r) FILL(n##3, s) FILL(n##4, t) FILL(n##5, u) "bra F" #n "6;"                         \
    TELL(n##1) TELL(n##2) TELL(n##3) TELL(n##4) TELL(n##5) TELL(n##6)

#define SIX_LINKS(a, b, c, d, e, f, next)      \
    LINK(a, b, p0, p1, p2, p3, p4, p5)         \
    LINK(b, c, p1, p2, p3, p4, p5, p0)         \
    LINK(c, d, p2, p3, p4, p5, p0, p1)         \
    LINK(d, e, p3, p4, p5, p0, p1, p2)         \
    LINK(e, f, p4, p5, p0, p1, p2, p3)         \
    LINK(f, next, p5, p0, p1, p2, p3, p4)

struct Bra {
    static constexpr const char* kName = "bra";
    static constexpr uint32_t kRounds = 64;
    static constexpr int kChain = 42, kValues = 2;

    uint32_t truths[6], stop;

    __device__ void run(uint32_t rounds, Log<kValues> log) const {
        uint32_t filler = 0, round = 0;
        // The indirect branch is never executed. With it, every link can be reached from elsewhere, so the assembler
        // cannot tell what the predicates are there, nor move the fillers away.
        asm volatile(
            "{ .reg .pred p<6>, more, stop;"
            "setp.ne.u32 p0, %2, 0;"
            "setp.ne.u32 p1, %3, 0;"
            "setp.ne.u32 p2, %4, 0;"
            "setp.ne.u32 p3, %5, 0;"
            "setp.ne.u32 p4, %6, 0;"
            "setp.ne.u32 p5, %7, 0;"
            SIX_LINKS(1, 2, 3, 4, 5, 6, 7)
            SIX_LINKS(7, 8, 9, 10, 11, 12, 13)
            SIX_LINKS(13, 14, 15, 16, 17, 18, 19)
            SIX_LINKS(19, 20, 21, 22, 23, 24, 25)
            SIX_LINKS(25, 26, 27, 28, 29, 30, 31)
            SIX_LINKS(31, 32, 33, 34, 35, 36, 37)
            SIX_LINKS(37, 38, 39, 40, 41, 42, 43)
            "L43: add.u32 %1, %1, 1;"
            "setp.lt.u32 more, %1, %9;"
            "@more bra L1;"
            "bra DONE;"
            "RECORD: setp.ne.u32 stop, %8, 0;"
            "@stop bra DONE;"
            "LINKS: .branchtargets L1, L2, L3, L4, L5, L6, L7, L8, L9, L10, L11, L12, L13, L14, L15, L16, L17, L18,"
            "L19, L20, L21, L22, L23, L24, L25, L26, L27, L28, L29, L30, L31, L32, L33, L34, L35, L36, L37, L38, L39,"
            "L40, L41, L42, L43;"
            "brx.idx %0, LINKS;"
            "DONE: }"
            : "+r"(filler), "+r"(round)
            : "r"(truths[0]), "r"(truths[1]), "r"(truths[2]), "r"(truths[3]), "r"(truths[4]), "r"(truths[5]),
              "r"(stop), "r"(rounds));
        if (filler != 0 || round != rounds) {
            write_record(log, round, {filler, round});
        }
    }

    void compute(const Record<kValues>&, uint32_t rounds, uint32_t (&computed)[kValues]) const {
        computed[0] = 0;
        computed[1] = rounds;
    }
};

int main(int argc, char** argv) { return run(Bra{{1, 1, 1, 1, 1, 1}, 1}, argc, argv); }
