// hash: MD5 (RFC 1321) and SHA-1 (RFC 3174) of every window of a piece of data, one thread per window.
//
// A window begins every `stride` bytes and ends after `window` bytes, or where the data ends: so the last windows are
// shorter, down to one stride or what is left of it. A thread pads its message as both algorithms say (one bit, zeros,
// the length) while it reads it, 64 bytes at a time. MD5 reads words from the lowest byte up, SHA-1 from the highest
// down. All steps of a compression are unrolled, with their constants in the instructions.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
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

constexpr int kBlock = 64;
constexpr unsigned kChunk = 64;     // bytes that are compressed at a time
constexpr unsigned kMd5Words = 4;   // of a digest
constexpr unsigned kSha1Words = 5;

// Where the data is, which part of it is whose.
struct Windows {
    const uint32_t* data;  // aligned; strides are whole words
    unsigned bytes, window, stride, count;

    __device__ unsigned length(unsigned index) const { return min(window, bytes - index * stride); }
};

// Chunks of a message with its padding: at least one byte for the bit and eight for the length.
__device__ unsigned chunks(unsigned length) { return (length + 8) / kChunk + 1; }

// A word of a message of `length` bytes, lowest byte first: data, the single bit that ends it, then zeros.
__device__ uint32_t padded(const uint32_t* message, unsigned length, unsigned word) {
    const unsigned whole = length / 4;
    if (word < whole) {
        return message[word];
    }
    if (word > whole) {
        return 0;
    }
    const unsigned rest = length % 4 * 8;
    const uint32_t tail = rest != 0 ? message[word] & ((1u << rest) - 1) : 0;
    return tail | 0x80u << rest;
}

__device__ uint32_t rotate(uint32_t x, int left) { return x << left | x >> (32 - left); }

// RFC 1321, 3.4: the constants are the integer parts of 2^32 |sin i|.
__device__ void md5_compress(uint32_t (&digest)[kMd5Words], const uint32_t (&x)[16]) {
    constexpr uint32_t sines[64] = {
        0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
        0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
        0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
        0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
        0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
        0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
        0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
        0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
    constexpr int shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

    uint32_t a = digest[0], b = digest[1], c = digest[2], d = digest[3];
#pragma unroll
    for (int i = 0; i < 64; ++i) {
        uint32_t mix;
        int word;
        if (i < 16) {
            mix = (b & c) | (~b & d);
            word = i;
        } else if (i < 32) {
            mix = (b & d) | (c & ~d);
            word = (5 * i + 1) % 16;
        } else if (i < 48) {
            mix = b ^ c ^ d;
            word = (3 * i + 5) % 16;
        } else {
            mix = c ^ (b | ~d);
            word = 7 * i % 16;
        }
        const uint32_t next = b + rotate(a + mix + x[word] + sines[i], shifts[i / 16][i % 4]);
        a = d;
        d = c;
        c = b;
        b = next;
    }
    digest[0] += a;
    digest[1] += b;
    digest[2] += c;
    digest[3] += d;
}

__global__ void __launch_bounds__(kBlock)
md5(Windows windows, uint32_t* __restrict__ digests) {
    const unsigned index = blockIdx.x * kBlock + threadIdx.x;
    if (index >= windows.count) {
        return;
    }
    const uint32_t* message = windows.data + index * windows.stride / 4;
    const unsigned length = windows.length(index), last = chunks(length) - 1;
    uint32_t digest[kMd5Words] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    for (unsigned chunk = 0; chunk <= last; ++chunk) {
        uint32_t x[16];
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            x[i] = padded(message, length, 16 * chunk + i);
        }
        if (chunk == last) {
            x[14] = length << 3;
            x[15] = length >> 29;
        }
        md5_compress(digest, x);
    }
    for (unsigned i = 0; i < kMd5Words; ++i) {
        digests[kMd5Words * index + i] = digest[i];
    }
}

// RFC 3174, 6.2: the schedule of 80 words is kept as its last 16.
__device__ void sha1_compress(uint32_t (&digest)[kSha1Words], uint32_t (&w)[16]) {
    uint32_t a = digest[0], b = digest[1], c = digest[2], d = digest[3], e = digest[4];
#pragma unroll
    for (int i = 0; i < 80; ++i) {
        if (i >= 16) {
            w[i % 16] = rotate(w[(i + 13) % 16] ^ w[(i + 8) % 16] ^ w[(i + 2) % 16] ^ w[i % 16], 1);
        }
        uint32_t mix, constant;
        if (i < 20) {
            mix = (b & c) | (~b & d);
            constant = 0x5a827999;
        } else if (i < 40) {
            mix = b ^ c ^ d;
            constant = 0x6ed9eba1;
        } else if (i < 60) {
            mix = (b & c) | (b & d) | (c & d);
            constant = 0x8f1bbcdc;
        } else {
            mix = b ^ c ^ d;
            constant = 0xca62c1d6;
        }
        const uint32_t next = rotate(a, 5) + mix + e + w[i % 16] + constant;
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    digest[0] += a;
    digest[1] += b;
    digest[2] += c;
    digest[3] += d;
    digest[4] += e;
}

__global__ void __launch_bounds__(kBlock)
sha1(Windows windows, uint32_t* __restrict__ digests) {
    const unsigned index = blockIdx.x * kBlock + threadIdx.x;
    if (index >= windows.count) {
        return;
    }
    const uint32_t* message = windows.data + index * windows.stride / 4;
    const unsigned length = windows.length(index), last = chunks(length) - 1;
    uint32_t digest[kSha1Words] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    for (unsigned chunk = 0; chunk <= last; ++chunk) {
        uint32_t w[16];
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            w[i] = __byte_perm(padded(message, length, 16 * chunk + i), 0, 0x0123);
        }
        if (chunk == last) {
            w[14] = length >> 29;
            w[15] = length << 3;
        }
        sha1_compress(digest, w);
    }
    for (unsigned i = 0; i < kSha1Words; ++i) {
        digests[kSha1Words * index + i] = digest[i];
    }
}

// A well-mixed 32-bit hash: the input is a function of the index alone.
static uint32_t hash32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

// FNV-1a over bytes, from the sum of the bytes before.
static uint64_t checksum(const void* data, size_t bytes, uint64_t sum = 0xcbf29ce484222325ull) {
    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
    }
    return sum;
}

// Both algorithms again for the host, in the plainest form: the padded message first, then one loop over its chunks.
struct Algorithm {
    bool big_endian;
    std::vector<uint32_t> start;
    void (*compress)(uint32_t* digest, const uint32_t* x);

    std::vector<uint32_t> of(const uint8_t* data, size_t length) const {
        std::vector<uint8_t> message(data, data + length);
        message.push_back(0x80);
        while (message.size() % kChunk != kChunk - 8) {
            message.push_back(0);
        }
        for (int i = 0; i < 8; ++i) {
            message.push_back(static_cast<uint8_t>(8 * length >> 8 * (big_endian ? 7 - i : i)));
        }
        std::vector<uint32_t> digest = start;
        for (size_t at = 0; at < message.size(); at += kChunk) {
            uint32_t x[16] = {};
            for (size_t i = 0; i < kChunk; ++i) {
                x[i / 4] |= static_cast<uint32_t>(message[at + i]) << 8 * (big_endian ? 3 - i % 4 : i % 4);
            }
            compress(digest.data(), x);
        }
        return digest;
    }

    std::string hex(const char* text) const {
        std::string all;
        for (const uint32_t word : of(reinterpret_cast<const uint8_t*>(text), std::strlen(text))) {
            for (int i = 0; i < 4; ++i) {
                char byte[3];
                std::snprintf(byte, sizeof byte, "%02x", word >> 8 * (big_endian ? 3 - i : i) & 0xff);
                all += byte;
            }
        }
        return all;
    }
};

static uint32_t left(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

static void host_md5(uint32_t* digest, const uint32_t* x) {
    const int shifts[] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
    uint32_t a = digest[0], b = digest[1], c = digest[2], d = digest[3];
    for (int i = 0; i < 64; ++i) {
        const uint32_t mixes[] = {d ^ (b & (c ^ d)), c ^ (d & (b ^ c)), b ^ c ^ d, c ^ (b | ~d)};
        const int words[] = {i, 5 * i + 1, 3 * i + 5, 7 * i}, round = i / 16;
        const uint32_t sine = static_cast<uint32_t>(std::floor(std::fabs(std::sin(i + 1.0)) * 4294967296.0));
        a = b + left(a + mixes[round] + x[words[round] % 16] + sine, shifts[4 * round + i % 4]);
        std::swap(a, d), std::swap(d, c), std::swap(c, b);  // b, c, d become c, d, a, and the new value b
    }
    digest[0] += a, digest[1] += b, digest[2] += c, digest[3] += d;
}

static void host_sha1(uint32_t* digest, const uint32_t* x) {
    const uint32_t constants[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[80], h[kSha1Words];
    std::copy(x, x + 16, w);
    std::copy(digest, digest + kSha1Words, h);
    for (int i = 16; i < 80; ++i) {
        w[i] = left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    for (int i = 0; i < 80; ++i) {
        const uint32_t parity = h[1] ^ h[2] ^ h[3], majority = (h[1] & h[2]) ^ (h[1] & h[3]) ^ (h[2] & h[3]);
        const uint32_t mixes[] = {h[3] ^ (h[1] & (h[2] ^ h[3])), parity, majority, parity};
        const uint32_t next = left(h[0], 5) + mixes[i / 20] + h[4] + w[i] + constants[i / 20];
        std::copy_backward(h, h + 4, h + 5);
        h[0] = next;
        h[2] = left(h[2], 30);
    }
    for (unsigned i = 0; i < kSha1Words; ++i) {
        digest[i] += h[i];
    }
}

static const Algorithm kMd5 = {false, {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}, host_md5};
static const Algorithm kSha1 = {true, {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}, host_sha1};

// Examples of RFC 1321, A.5, and RFC 3174, 7.3.
static bool examples_hold() {
    return kMd5.hex("") == "d41d8cd98f00b204e9800998ecf8427e" &&
           kMd5.hex("abc") == "900150983cd24fb0d6963f7d28e17f72" &&
           kMd5.hex("abcdefghijklmnopqrstuvwxyz") == "c3fcd3d76192e4007dfb496cca67e13b" &&
           kSha1.hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d" &&
           kSha1.hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
               "84983e441c3bd26ebaae4aa1f95129e5e54670f1";
}

static bool agrees(const Algorithm& algorithm, const std::vector<uint32_t>& found, const std::vector<uint8_t>& data,
                   const Windows& windows) {
    const size_t words = algorithm.start.size();
    bool same = true;
    for (unsigned i = 0; i < windows.count; ++i) {
        const unsigned at = i * windows.stride, length = std::min(windows.window, windows.bytes - at);
        const std::vector<uint32_t> expected = algorithm.of(data.data() + at, length);
        same = same && std::equal(expected.begin(), expected.end(), found.begin() + i * words);
    }
    return same;
}

// Whole argument, decimal, within [low, high]; -1 otherwise.
static int parse(const char* text, int low, int high) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && low <= value && value <= high ? static_cast<int>(value) : -1;
}

int main(int argc, char** argv) {
    const int bytes = argc > 1 ? parse(argv[1], 1, 1 << 20) : 16384;
    const int window = argc > 2 ? parse(argv[2], 1, 65536) : 192;
    const int stride_words = argc > 3 ? parse(argv[3], 1, 16384) : 8;
    if (argc > 4 || bytes < 0 || window < 0 || stride_words < 0) {
        std::fprintf(stderr, "usage: %s [bytes 1..1048576] [window 1..65536] [stride in words 1..16384]\n", argv[0]);
        return 2;
    }

    const unsigned stride = 4 * stride_words, count = (bytes + stride - 1) / stride;
    std::vector<uint8_t> data((bytes + 3) / 4 * 4);
    for (int i = 0; i < bytes; ++i) {
        data[i] = static_cast<uint8_t>(hash32(static_cast<uint32_t>(i)));
    }
    std::vector<uint32_t> md5_digests(kMd5Words * count), sha1_digests(kSha1Words * count);
    const size_t md5_bytes = md5_digests.size() * sizeof(uint32_t), sha1_bytes = sha1_digests.size() * sizeof(uint32_t);
    uint32_t* device_data = nullptr;
    uint32_t* device_md5 = nullptr;
    uint32_t* device_sha1 = nullptr;
    CUDA_CHECK(cudaMalloc(&device_data, data.size()));
    CUDA_CHECK(cudaMalloc(&device_md5, md5_bytes));
    CUDA_CHECK(cudaMalloc(&device_sha1, sha1_bytes));
    CUDA_CHECK(cudaMemcpy(device_data, data.data(), data.size(), cudaMemcpyHostToDevice));

    const Windows windows = {device_data, static_cast<unsigned>(bytes), static_cast<unsigned>(window), stride, count};
    const unsigned blocks = (count + kBlock - 1) / kBlock;
    md5<<<blocks, kBlock>>>(windows, device_md5);
    sha1<<<blocks, kBlock>>>(windows, device_sha1);
    CUDA_CHECK(cudaGetLastError());

    CUDA_CHECK(cudaMemcpy(md5_digests.data(), device_md5, md5_bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(sha1_digests.data(), device_sha1, sha1_bytes, cudaMemcpyDeviceToHost));
    for (uint32_t* array : {device_data, device_md5, device_sha1}) {
        CUDA_CHECK(cudaFree(array));
    }

    const bool pass = examples_hold() && agrees(kMd5, md5_digests, data, windows) &&
                      agrees(kSha1, sha1_digests, data, windows);
    const uint64_t sum = checksum(sha1_digests.data(), sha1_bytes, checksum(md5_digests.data(), md5_bytes));
    std::printf("hash %d bytes: md5 and sha-1 of %u windows, checksum 0x%016llx, %s\n", bytes, count,
                static_cast<unsigned long long>(sum), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
