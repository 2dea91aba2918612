// aes: encryption with AES-256 (FIPS-197), each block of 16 bytes on its own (ECB), by table look-ups.
//
// A thread owns one column of the state, four threads one block of the cipher. SubBytes, ShiftRows and MixColumns of a
// round become four look-ups per column, one for each of its bytes, in tables of 256 words each (Daemen and Rijmen, AES
// proposal, 5.2.1); the bytes come from all four columns, which the threads exchange in shared memory. One table lies
// in constant memory; a thread block begins with copying it to shared memory, and its three rotations beside it. In the
// last round, which mixes no columns, a byte of the same tables is the substitution itself. Words hold the bytes of a
// column from the lowest up, as they lie in memory.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                                           \
    do {                                                                                                           \
        const cudaError_t status = (call);                                                                         \
        if (status != cudaSuccess) {                                                                               \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status));        \
            std::exit(3);                                                                                          \
        }                                                                                                          \
    } while (0)

constexpr int kBlock = 256;      // threads, and entries of a table
constexpr int kRounds = 14;      // AES-256
constexpr int kColumns = 4;      // words of the state
constexpr int kStateBytes = 16;  // of a block of the cipher
constexpr int kKeyBytes = 32;

__constant__ uint32_t mixed[256];                          // what a byte of the first row adds to its column
__constant__ uint32_t round_keys[kColumns * (kRounds + 1)];

__global__ void __launch_bounds__(kBlock)
encrypt(const uint32_t* __restrict__ plain, uint32_t* __restrict__ cipher) {
    __shared__ uint32_t table[4][256];
    __shared__ uint32_t state[2][kBlock];

    const unsigned t = threadIdx.x;
    table[0][t] = mixed[t];
    for (int row = 1; row < 4; ++row) {
        table[row][t] = mixed[t] << 8 * row | mixed[t] >> (32 - 8 * row);
    }

    const unsigned column = t % kColumns, first = t - column;
    const unsigned word = blockIdx.x * kBlock + t;
    state[0][t] = plain[word] ^ round_keys[column];
    __syncthreads();

    int now = 0;
    for (int round = 1; round < kRounds; ++round) {
        const uint32_t* from = &state[now][first];
        state[1 - now][t] = table[0][from[column] & 0xff] ^
                            table[1][from[(column + 1) % kColumns] >> 8 & 0xff] ^
                            table[2][from[(column + 2) % kColumns] >> 16 & 0xff] ^
                            table[3][from[(column + 3) % kColumns] >> 24] ^
                            round_keys[kColumns * round + column];
        __syncthreads();
        now = 1 - now;
    }

    // Bytes 1 and 2 of an entry of the first table are the substitution; the rotations have it in other places.
    const uint32_t* from = &state[now][first];
    const uint32_t last = (table[3][from[column] & 0xff] & 0x000000ff) |
                          (table[0][from[(column + 1) % kColumns] >> 8 & 0xff] & 0x0000ff00) |
                          (table[0][from[(column + 2) % kColumns] >> 16 & 0xff] & 0x00ff0000) |
                          (table[1][from[(column + 3) % kColumns] >> 24] & 0xff000000);
    cipher[word] = last ^ round_keys[kColumns * kRounds + column];
}

// A well-mixed 32-bit hash: the input is a function of the index alone.
static uint32_t hash32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

// FNV-1a over bytes.
static uint64_t checksum(const void* data, size_t bytes) {
    uint64_t sum = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

using Bytes = std::vector<uint8_t>;

// Multiplication by x, and in general, in the field of FIPS-197, 4.2.
static uint8_t twice(uint8_t a) { return static_cast<uint8_t>(a << 1 ^ (a >> 7) * 0x1b); }

static uint8_t product(uint8_t a, uint8_t b) {
    uint8_t sum = 0;
    for (; b != 0; b >>= 1, a = twice(a)) {
        sum ^= b & 1 ? a : 0;
    }
    return sum;
}

// The substitution, 5.1.1: the inverse (the power 254), then an affine map of the bits.
static std::array<uint8_t, 256> substitution() {
    std::array<uint8_t, 256> box;
    for (int x = 0; x < 256; ++x) {
        uint8_t inverse = 1;
        for (int i = 0; i < 254; ++i) {
            inverse = product(inverse, static_cast<uint8_t>(x));
        }
        const unsigned bits = inverse * 0x101u;
        box[x] = static_cast<uint8_t>(bits ^ bits >> 4 ^ bits >> 5 ^ bits >> 6 ^ bits >> 7 ^ 0x63);
    }
    return box;
}

// The key schedule, 5.2, as bytes.
static Bytes expand(const Bytes& key, const std::array<uint8_t, 256>& box) {
    Bytes keys = key;
    uint8_t constant = 1;
    while (keys.size() < kStateBytes * (kRounds + 1)) {
        std::array<uint8_t, 4> word;
        std::copy(keys.end() - 4, keys.end(), word.begin());
        if (keys.size() % kKeyBytes == 0) {
            word = {static_cast<uint8_t>(box[word[1]] ^ constant), box[word[2]], box[word[3]], box[word[0]]};
            constant = twice(constant);
        } else if (keys.size() % kKeyBytes == kKeyBytes / 2) {
            word = {box[word[0]], box[word[1]], box[word[2]], box[word[3]]};
        }
        for (const uint8_t byte : word) {
            keys.push_back(byte ^ keys[keys.size() - kKeyBytes]);
        }
    }
    return keys;
}

// One block of the cipher, step by step as in 5.1; no tables but the substitution.
static void reference(uint8_t* state, const Bytes& keys, const std::array<uint8_t, 256>& box) {
    const auto add_key = [&](int round) {
        for (int i = 0; i < kStateBytes; ++i) {
            state[i] ^= keys[kStateBytes * round + i];
        }
    };
    add_key(0);
    for (int round = 1; round <= kRounds; ++round) {
        uint8_t shifted[kStateBytes];
        for (int i = 0; i < kStateBytes; ++i) {
            shifted[i] = box[state[(i + i % 4 * 4) % kStateBytes]];
        }
        for (int i = 0; i < kStateBytes; ++i) {
            const uint8_t* column = shifted + i / 4 * 4;
            const uint8_t next = column[(i + 1) % 4];
            const uint8_t sum = twice(shifted[i]) ^ twice(next) ^ next ^ column[(i + 2) % 4] ^ column[(i + 3) % 4];
            state[i] = round == kRounds ? shifted[i] : sum;
        }
        add_key(round);
    }
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int blocks = argc > 1 ? parse(argv[1], 1, 4096) : 12;
    if (argc > 2 || blocks < 0) {
        std::fprintf(stderr, "usage: %s [KiB 1..4096]\n", argv[0]);
        return 2;
    }

    // The example of FIPS-197, C.3, comes first: its key is ours, its plain text the first 16 bytes.
    const size_t bytes = static_cast<size_t>(blocks) * kBlock * sizeof(uint32_t);
    Bytes key(kKeyBytes), plain(bytes), cipher(bytes);
    for (int i = 0; i < kKeyBytes; ++i) {
        key[i] = static_cast<uint8_t>(i);
    }
    for (size_t i = 0; i < bytes; ++i) {
        plain[i] = static_cast<uint8_t>(i < kStateBytes ? 0x11 * i : hash32(static_cast<uint32_t>(i)));
    }
    const uint8_t example[kStateBytes] = {0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf,
                                          0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89};

    const std::array<uint8_t, 256> box = substitution();
    const Bytes keys = expand(key, box);
    std::array<uint32_t, 256> table;
    for (int x = 0; x < 256; ++x) {
        const uint32_t s = box[x], doubled = twice(box[x]);
        table[x] = doubled | s << 8 | s << 16 | (doubled ^ s) << 24;
    }

    uint32_t* device_plain = nullptr;
    uint32_t* device_cipher = nullptr;
    CUDA_CHECK(cudaMalloc(&device_plain, bytes));
    CUDA_CHECK(cudaMalloc(&device_cipher, bytes));
    CUDA_CHECK(cudaMemcpyToSymbol(mixed, table.data(), sizeof mixed));
    CUDA_CHECK(cudaMemcpyToSymbol(round_keys, keys.data(), sizeof round_keys));
    CUDA_CHECK(cudaMemcpy(device_plain, plain.data(), bytes, cudaMemcpyHostToDevice));

    encrypt<<<blocks, kBlock>>>(device_plain, device_cipher);
    CUDA_CHECK(cudaGetLastError());

    CUDA_CHECK(cudaMemcpy(cipher.data(), device_cipher, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_plain));
    CUDA_CHECK(cudaFree(device_cipher));

    Bytes expected = plain;
    for (size_t at = 0; at < bytes; at += kStateBytes) {
        reference(expected.data() + at, keys, box);
    }
    const bool pass = cipher == expected && std::memcmp(cipher.data(), example, sizeof example) == 0;
    std::printf("aes-256, %zu bytes: checksum 0x%016llx, %s\n", bytes,
                static_cast<unsigned long long>(checksum(cipher.data(), bytes)), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
