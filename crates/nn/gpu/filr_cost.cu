// The time that duplicated filters cost on a GPU.
//
//     nvcc -O3 -std=c++17 -arch=native -o filr_cost filr_cost.cu
//     ./filr_cost filr_layers.txt [--batch 1,64,1024] [--samples 21] [--ms 50] [--only NETWORK] [--tile 64x64]
//
// Reads the file of filr_layers.py. For each block it runs all convolutions, one after the other, on random INT8 data:
//
//     plain     without duplicates
//     dup       duplicates are further output channels of the same launch; a kernel for each layer compares them with their originals
//               in a second stream, which is joined at the end (lazy)
//     same      the same, with comparisons in the first stream, each behind its layer
//     once      one kernel at the end compares the duplicates of all layers
//     again     plain once more, which shows the noise
//
// Convolutions are implicit matrix products in shared memory: INT8 in, INT32 sums by __dp4a, INT8 out. The sizes of tiles are tuned for
// each layer, with and without duplicates. Depthwise layers have a direct kernel.
//
// Times are of CUDA graphs of 16 inferences, so that the CPU is not what is measured; rows with `stream` are of single launches.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

static void fail(const char* format, ...) {
    va_list words;
    va_start(words, format);
    fflush(stdout);
    fprintf(stderr, "filr_cost: ");
    vfprintf(stderr, format, words);
    fprintf(stderr, "\n");
    va_end(words);
    exit(1);
}

#define CHECK(call)                                                                                    \
    do {                                                                                               \
        const cudaError_t error_ = (call);                                                             \
        if (error_ != cudaSuccess) fail("line %d: %s: %s", __LINE__, #call, cudaGetErrorString(error_)); \
    } while (0)

// ---- Kernels ----

// A convolution of one group. Tensors are in the order image, row, column, channel.
struct Gemm {
    const int8_t* in;
    const int* weights;  // words of four bytes along the sum, by rows of `stride` channels
    const int* bias;
    const float* scale;
    const int4* taps;  // of each word (or byte) of the sum: row, column, offset
    int8_t* out;       // originals
    int8_t* twice;     // duplicates
    int c, h, w, sh, sw, ph, pw, oh, ow;
    int pixels;    // of all images
    int channels;  // originals
    int all;       // with duplicates
    int stride;
    int words;  // of the sum
};

constexpr int FAR_AWAY = -(1 << 20);  // a row outside every image

__device__ __forceinline__ int requantised(int sum, int bias, float scale) {
    const int value = __float2int_rn(__fmul_rn(static_cast<float>(sum + bias), scale));
    return max(-128, min(127, value));
}

// A tile of BM pixels and BN channels. A thread has TM pixels, ROWS apart, and TN neighbouring channels.
template <int BM, int BN, int TM, int TN, bool BYTES>
__global__ void __launch_bounds__(BM / TM * (BN / TN)) convolution(const Gemm g) {
    constexpr int BK = 8, ROWS = BM / TM, COLUMNS = BN / TN, THREADS = ROWS * COLUMNS;
    constexpr int STEP = THREADS / BK, LOADS = BM / STEP, WEIGHTS = (BK * BN + THREADS - 1) / THREADS;
    constexpr int WIDE = TN % 4 == 0 ? 4 : TN % 2 == 0 ? 2 : 1;
    static_assert(THREADS % BK == 0 && BM % STEP == 0, "a tile that threads do not divide");
    // Four more words keep the stores of a warp in different banks.
    __shared__ int a[2][BK][BM + 4];
    __shared__ __align__(16) int b[2][BK][BN];

    const int t = threadIdx.x, tx = t % COLUMNS, ty = t / COLUMNS;
    const int m0 = blockIdx.x * BM, n0 = blockIdx.y * BN;
    const int lane = t % BK;

    int row[LOADS], column[LOADS], base[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        const int p = m0 + t / BK + i * STEP;
        const int x = p % g.ow, rest = p / g.ow, y = rest % g.oh, image = rest / g.oh;
        row[i] = p < g.pixels ? y * g.sh - g.ph : FAR_AWAY;
        column[i] = x * g.sw - g.pw;
        base[i] = p < g.pixels ? ((image * g.h + row[i]) * g.w + column[i]) * g.c : 0;
    }

    int next_a[LOADS], next_b[WEIGHTS];
    const auto load = [&](int k0) {
        const int k = k0 + lane;
#pragma unroll
        for (int i = 0; i < LOADS; i++) next_a[i] = 0;
        if (k < g.words) {
#pragma unroll
            for (int byte = 0; byte < (BYTES ? 4 : 1); byte++) {
                const int4 tap = __ldg(&g.taps[BYTES ? 4 * k + byte : k]);
#pragma unroll
                for (int i = 0; i < LOADS; i++) {
                    const int y = row[i] + tap.x, x = column[i] + tap.y;
                    if (static_cast<unsigned>(y) < static_cast<unsigned>(g.h) && static_cast<unsigned>(x) < static_cast<unsigned>(g.w)) {
                        const int8_t* from = g.in + base[i] + tap.z;
                        if (BYTES) {
                            next_a[i] |= static_cast<int>(static_cast<unsigned>(static_cast<uint8_t>(__ldg(from))) << (8 * byte));
                        } else {
                            next_a[i] = __ldg(reinterpret_cast<const int*>(from));
                        }
                    }
                }
            }
        }
#pragma unroll
        for (int i = 0; i < WEIGHTS; i++) {
            const int at = t + i * THREADS, r = at / BN, n = at % BN;
            next_b[i] = at < BK * BN && k0 + r < g.words ? __ldg(&g.weights[(k0 + r) * g.stride + n0 + n]) : 0;
        }
    };
    const auto store = [&](int buffer) {
#pragma unroll
        for (int i = 0; i < LOADS; i++) a[buffer][lane][t / BK + i * STEP] = next_a[i];
#pragma unroll
        for (int i = 0; i < WEIGHTS; i++) {
            const int at = t + i * THREADS;
            if (at < BK * BN) b[buffer][at / BN][at % BN] = next_b[i];
        }
    };

    int sums[TM][TN] = {};
    load(0);
    store(0);
    __syncthreads();
    int buffer = 0;
    for (int k0 = 0; k0 < g.words; k0 += BK) {
        const bool more = k0 + BK < g.words;
        if (more) load(k0 + BK);
        const int end = min(BK, g.words - k0);
#pragma unroll
        for (int k = 0; k < BK; k++) {
            if (k < end) {
                int left[TM], right[TN];
#pragma unroll
                for (int i = 0; i < TM; i++) left[i] = a[buffer][k][i * ROWS + ty];
                const int* from = &b[buffer][k][tx * TN];
#pragma unroll
                for (int j = 0; j < TN; j += WIDE) {
                    if (WIDE == 4) {
                        const int4 v = *reinterpret_cast<const int4*>(from + j);
                        right[j] = v.x, right[j + 1 < TN ? j + 1 : j] = v.y;
                        right[j + 2 < TN ? j + 2 : j] = v.z, right[j + 3 < TN ? j + 3 : j] = v.w;
                    } else if (WIDE == 2) {
                        const int2 v = *reinterpret_cast<const int2*>(from + j);
                        right[j] = v.x, right[j + 1 < TN ? j + 1 : j] = v.y;
                    } else {
                        right[j] = from[j];
                    }
                }
#pragma unroll
                for (int i = 0; i < TM; i++) {
#pragma unroll
                    for (int j = 0; j < TN; j++) sums[i][j] = __dp4a(left[i], right[j], sums[i][j]);
                }
            }
        }
        if (more) {
            store(buffer ^ 1);
            __syncthreads();
            buffer ^= 1;
        }
    }

    const int n = n0 + tx * TN, copies = g.all - g.channels;
#pragma unroll
    for (int j = 0; j < TN; j += WIDE) {
        int bias[WIDE];
        float scale[WIDE];
#pragma unroll
        for (int l = 0; l < WIDE; l++) bias[l] = __ldg(&g.bias[n + j + l]), scale[l] = __ldg(&g.scale[n + j + l]);
        // Words are whole originals only where every pixel begins at one.
        const bool whole = WIDE > 1 && g.channels % WIDE == 0 && n + j + WIDE <= g.channels;
#pragma unroll
        for (int i = 0; i < TM; i++) {
            const int p = m0 + i * ROWS + ty;
            if (p >= g.pixels) continue;
            int value[WIDE];
#pragma unroll
            for (int l = 0; l < WIDE; l++) value[l] = requantised(sums[i][j + l], bias[l], scale[l]);
            if (whole) {
                int8_t* to = g.out + p * g.channels + n + j;
                if (WIDE == 4) {
                    *reinterpret_cast<char4*>(to) = make_char4(value[0], value[WIDE > 1 ? 1 : 0], value[WIDE > 2 ? 2 : 0], value[WIDE > 3 ? 3 : 0]);
                } else {
                    *reinterpret_cast<char2*>(to) = make_char2(value[0], value[WIDE > 1 ? 1 : 0]);
                }
                continue;
            }
#pragma unroll
            for (int l = 0; l < WIDE; l++) {
                const int channel = n + j + l;
                if (channel < g.channels) {
                    g.out[p * g.channels + channel] = static_cast<int8_t>(value[l]);
                } else if (channel < g.all) {
                    g.twice[p * copies + channel - g.channels] = static_cast<int8_t>(value[l]);
                }
            }
        }
    }
}

// A depthwise convolution. Each thread has one output.
struct Depthwise {
    const int8_t* in;
    const int8_t* weights;  // by tap and channel
    const int* bias;
    const float* scale;
    const int* sources;  // the channel that each output reads
    int8_t* out;
    int8_t* twice;
    int h, w, kh, kw, sh, sw, ph, pw, oh, ow;
    int pixels, channels, all;
};

__global__ void __launch_bounds__(128) depthwise(const Depthwise g) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= g.pixels * g.all) return;
    const int n = at % g.all, p = at / g.all;
    const int x0 = p % g.ow * g.sw - g.pw, rest = p / g.ow, y0 = rest % g.oh * g.sh - g.ph, image = rest / g.oh;
    const int source = __ldg(&g.sources[n]);
    int sum = 0;
    for (int r = 0; r < g.kh; r++) {
        const int y = y0 + r;
        if (static_cast<unsigned>(y) >= static_cast<unsigned>(g.h)) continue;
        for (int s = 0; s < g.kw; s++) {
            const int x = x0 + s;
            if (static_cast<unsigned>(x) >= static_cast<unsigned>(g.w)) continue;
            sum += __ldg(&g.in[((image * g.h + y) * g.w + x) * g.channels + source]) * __ldg(&g.weights[(r * g.kw + s) * g.all + n]);
        }
    }
    const int8_t value = static_cast<int8_t>(requantised(sum, g.bias[n], g.scale[n]));
    if (n < g.channels) {
        g.out[p * g.channels + n] = value;
    } else {
        g.twice[p * (g.all - g.channels) + n - g.channels] = value;
    }
}

// The comparison of the duplicates of a layer.
struct Comparison {
    const int8_t* out;
    const int8_t* twice;
    const int* originals;  // the channel of each duplicate
    int count;             // of bytes in `twice`
    int channels, copies;
    int first;  // the first block where one launch compares all layers
};

constexpr int COMPARED = 256;  // threads of a block, each with four duplicates

__device__ __forceinline__ void compare_block(const Comparison& c, int block, int* flag) {
    const int at = 4 * (block * COMPARED + static_cast<int>(threadIdx.x));
    if (at >= c.count) return;
    // The buffer ends at a whole word.
    const int word = *reinterpret_cast<const int*>(c.twice + at);
    int p = at / c.copies, d = at % c.copies;
    bool differs = false;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (at + i < c.count) differs |= static_cast<int8_t>(word >> (8 * i)) != c.out[p * c.channels + __ldg(&c.originals[d])];
        if (++d == c.copies) d = 0, p++;
    }
    if (differs) atomicOr(flag, 1);
}

__global__ void __launch_bounds__(COMPARED) compare(const Comparison c, int* flag) { compare_block(c, blockIdx.x, flag); }

__global__ void __launch_bounds__(COMPARED) compare_all(const Comparison* all, int count, int* flag) {
    int layer = 0;
    while (layer + 1 < count && all[layer + 1].first <= static_cast<int>(blockIdx.x)) layer++;
    compare_block(all[layer], blockIdx.x - all[layer].first, flag);
}

// ---- Tiles ----

struct Tile {
    const char* name;
    int pixels, channels, threads;
    void (*words)(const Gemm);
    void (*bytes)(const Gemm);
};

#define TILE(BM, BN, TM, TN) \
    {#BM "x" #BN, BM, BN, BM / TM * (BN / TN), convolution<BM, BN, TM, TN, false>, convolution<BM, BN, TM, TN, true>}

static const Tile TILES[] = {
    TILE(16, 16, 1, 2),  TILE(32, 8, 1, 2),   TILE(32, 16, 1, 4),  TILE(32, 32, 2, 4),  TILE(64, 8, 2, 2),
    TILE(64, 16, 2, 4),  TILE(64, 24, 2, 6),  TILE(64, 32, 4, 4),  TILE(64, 64, 4, 8),  TILE(128, 8, 4, 2),
    TILE(128, 16, 4, 4), TILE(128, 24, 4, 6), TILE(128, 32, 8, 4), TILE(128, 40, 8, 5), TILE(128, 48, 8, 6), TILE(128, 64, 8, 8),
};
constexpr int TILE_COUNT = sizeof TILES / sizeof *TILES;
constexpr int WIDEST = 64;

// ---- Networks ----

struct Shape {
    std::string name;
    int c, h, w, n, kh, kw, sh, sw, ph, pw, groups;
    long long macs;
    std::vector<int> twice;  // the channels that are made twice

    int oh() const { return (h + 2 * ph - kh) / sh + 1; }
    int ow() const { return (w + 2 * pw - kw) / sw + 1; }
    bool is_depthwise() const { return groups > 1; }
    int sum() const { return kh * kw * (is_depthwise() ? 1 : c); }
};

struct Block {
    std::string network, coverage;
    double overhead;
    std::vector<Shape> layers;
};

static std::vector<Block> read(const char* path) {
    std::ifstream file(path);
    if (!file) fail("%s cannot be read", path);
    std::vector<Block> blocks;
    std::string line;
    for (int number = 1; std::getline(file, line); number++) {
        std::istringstream words(line);
        std::string word;
        if (!(words >> word) || word[0] == '#') continue;
        if (word == "block") {
            Block block;
            int maps, all;
            if (!(words >> block.network >> block.coverage >> maps >> all >> block.overhead)) fail("%s:%d: no block", path, number);
            blocks.push_back(block);
        } else if (word == "conv" && !blocks.empty()) {
            Shape s;
            int copies;
            std::string channels;
            if (!(words >> s.name >> s.c >> s.h >> s.w >> s.n >> s.kh >> s.kw >> s.sh >> s.sw >> s.ph >> s.pw >> s.groups >> copies >> s.macs >>
                  channels))
                fail("%s:%d: no convolution", path, number);
            std::istringstream list(channels == "-" ? "" : channels);
            for (std::string one; std::getline(list, one, ',');) s.twice.push_back(atoi(one.c_str()));
            const bool inside = std::all_of(s.twice.begin(), s.twice.end(), [&](int n) { return n >= 0 && n < s.n; });
            if (static_cast<int>(s.twice.size()) != copies || !inside) fail("%s:%d: other channels than duplicates", path, number);
            if (s.groups != 1 && (s.groups != s.c || s.groups != s.n)) fail("%s:%d: groups that are not depthwise", path, number);
            if (s.macs != 1LL * s.oh() * s.ow() * s.n * s.sum()) fail("%s:%d: other multiplications", path, number);
            blocks.back().layers.push_back(s);
        } else {
            fail("%s:%d: %s?", path, number, word.c_str());
        }
    }
    for (const Block& block : blocks) {
        double once = 0, twice = 0;
        for (const Shape& s : block.layers) once += s.macs, twice += 1.0 * s.macs / s.n * s.twice.size();
        if (block.layers.empty() || std::fabs(twice / once - block.overhead) > 1e-5) fail("%s: the overhead of %s", path, block.network.c_str());
    }
    return blocks;
}

// Memory of the GPU, which goes with its owner.
class Memory {
  public:
    Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() {
        for (void* one : owned) CHECK(cudaFree(one));
    }
    template <typename T>
    T* take(size_t count) {
        void* made = nullptr;
        const size_t bytes = (std::max<size_t>(count, 1) * sizeof(T) + 15) / 16 * 16;
        CHECK(cudaMalloc(&made, bytes));
        owned.push_back(made);
        CHECK(cudaMemset(made, 0, bytes));
        return static_cast<T*>(made);
    }
    template <typename T>
    T* copy(const std::vector<T>& from) {
        T* made = take<T>(from.size());
        CHECK(cudaMemcpy(made, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
        return made;
    }

  private:
    std::vector<void*> owned;
};

// What a launch of a layer needs, with or without duplicates.
struct Launch {
    bool is_depthwise = false, bytes = false;
    Gemm gemm = {};
    Depthwise direct = {};
    int tile = 0;
    int* bias = nullptr;  // on the GPU
};

struct Layer {
    Shape shape;
    int pixels = 0;
    Launch plain, dup;
    Comparison comparison = {};
    std::vector<int8_t> in, weights;  // weights by channel, row, column, input channel
    std::vector<int> bias;
    std::vector<float> scale;
    int copies() const { return static_cast<int>(shape.twice.size()); }
    size_t outputs() const { return static_cast<size_t>(pixels) * shape.n; }
};

static void launch(const Launch& l, cudaStream_t stream) {
    if (l.is_depthwise) {
        const int count = l.direct.pixels * l.direct.all;
        depthwise<<<(count + 127) / 128, 128, 0, stream>>>(l.direct);
    } else {
        const Tile& tile = TILES[l.tile];
        const dim3 grid((l.gemm.pixels + tile.pixels - 1) / tile.pixels, (l.gemm.all + tile.channels - 1) / tile.channels);
        (l.bytes ? tile.bytes : tile.words)<<<grid, tile.threads, 0, stream>>>(l.gemm);
    }
    CHECK(cudaGetLastError());
}

static int compare_blocks(const Comparison& c) { return (c.count + 4 * COMPARED - 1) / (4 * COMPARED); }

static void launch(const Comparison& c, int* flag, cudaStream_t stream) {
    compare<<<compare_blocks(c), COMPARED, 0, stream>>>(c, flag);
    CHECK(cudaGetLastError());
}

// Output n of the launch is channel `sources[n]` of the layer.
static Launch prepare(Memory& memory, const Layer& layer, const int8_t* in, const std::vector<int>& sources) {
    const Shape& s = layer.shape;
    const int all = static_cast<int>(sources.size()), stride = (all + WIDEST - 1) / WIDEST * WIDEST + WIDEST, sum = s.sum();
    Launch l;
    std::vector<int> bias(stride);
    std::vector<float> scale(stride);
    for (int n = 0; n < all; n++) bias[n] = layer.bias[sources[n]], scale[n] = layer.scale[sources[n]];
    l.bias = memory.copy(bias);
    const float* scales = memory.copy(scale);
    int8_t* out = memory.take<int8_t>(layer.outputs());
    int8_t* twice = memory.take<int8_t>(static_cast<size_t>(layer.pixels) * (all - s.n));
    if (s.is_depthwise()) {
        l.is_depthwise = true;
        std::vector<int8_t> weights(static_cast<size_t>(sum) * all);
        for (int n = 0; n < all; n++)
            for (int k = 0; k < sum; k++) weights[static_cast<size_t>(k) * all + n] = layer.weights[static_cast<size_t>(sources[n]) * sum + k];
        l.direct = Depthwise{in,   memory.copy(weights), l.bias, scales, memory.copy(sources), out,          twice, s.h,  s.w, s.kh,
                             s.kw, s.sh,                 s.sw,   s.ph,   s.pw,                 s.oh(),       s.ow(), layer.pixels, s.n, all};
        return l;
    }
    l.bytes = s.c % 4 != 0;
    const int words = (sum + 3) / 4;
    std::vector<int> weights(static_cast<size_t>(words) * stride);
    for (int n = 0; n < all; n++) {
        for (int k = 0; k < sum; k++) {
            const unsigned byte = static_cast<uint8_t>(layer.weights[static_cast<size_t>(sources[n]) * sum + k]);
            int& word = weights[static_cast<size_t>(k / 4) * stride + n];
            word = static_cast<int>(static_cast<unsigned>(word) | byte << (8 * (k % 4)));
        }
    }
    std::vector<int4> taps(l.bytes ? 4 * words : words, make_int4(FAR_AWAY, 0, 0, 0));
    for (int k = 0; k < sum; k += l.bytes ? 1 : 4) {
        const int c = k % s.c, x = k / s.c % s.kw, y = k / s.c / s.kw;
        taps[l.bytes ? k : k / 4] = make_int4(y, x, (y * s.w + x) * s.c + c, 0);
    }
    Gemm& g = l.gemm;
    g.in = in, g.weights = memory.copy(weights), g.bias = l.bias, g.scale = scales, g.taps = memory.copy(taps), g.out = out, g.twice = twice;
    g.c = s.c, g.h = s.h, g.w = s.w, g.sh = s.sh, g.sw = s.sw, g.ph = s.ph, g.pw = s.pw, g.oh = s.oh(), g.ow = s.ow();
    g.pixels = layer.pixels, g.channels = s.n, g.all = all, g.stride = stride, g.words = words;
    return l;
}

static int8_t* out_of(const Launch& l) { return l.is_depthwise ? l.direct.out : l.gemm.out; }
static int8_t* twice_of(const Launch& l) { return l.is_depthwise ? l.direct.twice : l.gemm.twice; }

enum Variant { PLAIN, DUP, SAME, ONCE, AGAIN, VARIANTS };
static const char* const NAMES[] = {"plain", "dup", "same", "once", "again"};
constexpr int INFERENCES = 16;  // of a graph

struct Network {
    Memory memory;
    std::vector<Layer> layers;
    std::vector<cudaEvent_t> events;
    cudaEvent_t joined = nullptr;
    cudaStream_t first = nullptr, second = nullptr;
    int* flag = nullptr;
    Comparison* comparisons = nullptr;  // on the GPU
    int compared = 0, compared_blocks = 0;

    Network() {
        CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
        CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
        flag = memory.take<int>(1);
    }
    ~Network() {
        CHECK(cudaDeviceSynchronize());
        for (cudaEvent_t event : events) CHECK(cudaEventDestroy(event));
        CHECK(cudaEventDestroy(joined));
        CHECK(cudaStreamDestroy(first));
        CHECK(cudaStreamDestroy(second));
    }
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    // One inference.
    void enqueue(Variant variant) {
        bool forked = false;
        for (size_t i = 0; i < layers.size(); i++) {
            const Layer& layer = layers[i];
            const bool plain = variant == PLAIN || variant == AGAIN;
            launch(plain ? layer.plain : layer.dup, first);
            if (plain || layer.copies() == 0) continue;
            if (variant == SAME) launch(layer.comparison, flag, first);
            if (variant == DUP) {
                CHECK(cudaEventRecord(events[i], first));
                CHECK(cudaStreamWaitEvent(second, events[i], 0));
                launch(layer.comparison, flag, second);
                forked = true;
            }
        }
        if (variant == ONCE && compared > 0) {
            compare_all<<<compared_blocks, COMPARED, 0, first>>>(comparisons, compared, flag);
            CHECK(cudaGetLastError());
        }
        if (forked) {
            CHECK(cudaEventRecord(joined, second));
            CHECK(cudaStreamWaitEvent(first, joined, 0));
        }
    }
    void wait() { CHECK(cudaStreamSynchronize(first)); }
    // Takes the flag back, too.
    int read_flag() {
        int found = 0;
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(&found, flag, sizeof found, cudaMemcpyDeviceToHost));
        CHECK(cudaMemset(flag, 0, sizeof found));
        CHECK(cudaDeviceSynchronize());
        return found;
    }
};

// A graph of what `enqueue` puts into a stream.
class Graph {
  public:
    template <typename F>
    Graph(cudaStream_t stream, F enqueue) : stream(stream) {
        cudaGraph_t graph;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        enqueue();
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&made, graph, 0));
        CHECK(cudaGraphDestroy(graph));
        CHECK(cudaGraphUpload(made, stream));
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph() { CHECK(cudaGraphExecDestroy(made)); }
    void launch() { CHECK(cudaGraphLaunch(made, stream)); }

  private:
    cudaStream_t stream;
    cudaGraphExec_t made = nullptr;
};

// Milliseconds of `run`.
struct Clock {
    cudaEvent_t start, end;
    Clock() {
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&end));
    }
    ~Clock() {
        CHECK(cudaEventDestroy(start));
        CHECK(cudaEventDestroy(end));
    }
    template <typename F>
    float time(cudaStream_t stream, F run) {
        float ms = 0;
        CHECK(cudaEventRecord(start, stream));
        run();
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, start, end));
        return ms;
    }
};

// Kernels of streams that do not wait for copies see the value, too.
template <typename T>
static void put(T* to, T value) {
    CHECK(cudaMemcpy(to, &value, sizeof value, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
}

template <typename T>
static std::vector<T> fetch(const T* from, size_t count) {
    std::vector<T> made(count);
    CHECK(cudaMemcpy(made.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
    return made;
}

// Sets the fastest tile. All tiles have to make the same outputs.
static void tune(Network& net, Launch& l, const Layer& layer, int forced) {
    static std::map<std::vector<int>, int> known;
    if (l.is_depthwise) return;
    const Gemm& g = l.gemm;
    const std::vector<int> key = {g.c, g.h, g.w, g.words, g.sh, g.sw, g.ph, g.pw, g.oh, g.ow, g.pixels, g.channels, g.all};
    const auto found = known.find(key);
    if (forced >= 0 || found != known.end()) {
        l.tile = forced >= 0 ? forced : found->second;
        return;
    }
    const size_t copies = static_cast<size_t>(g.pixels) * (g.all - g.channels);
    std::vector<int8_t> out, twice;
    Clock clock;
    float least = INFINITY;
    int best = 0;
    for (int tile = 0; tile < TILE_COUNT; tile++) {
        l.tile = tile;
        CHECK(cudaMemset(g.out, 85, layer.outputs()));
        CHECK(cudaMemset(g.twice, 85, copies));
        CHECK(cudaDeviceSynchronize());
        Graph graph(net.first, [&] {
            for (int i = 0; i < 20; i++) launch(l, net.first);
        });
        for (int round = 0; round < 8; round++) {
            const float ms = clock.time(net.first, [&] { graph.launch(); });
            if (round > 1 && ms < least) least = ms, best = tile;
        }
        const std::vector<int8_t> this_out = fetch(g.out, layer.outputs()), this_twice = fetch(g.twice, copies);
        if (tile == 0) out = this_out, twice = this_twice;
        if (this_out != out || this_twice != twice) fail("%s: tile %s makes other outputs", layer.shape.name.c_str(), TILES[tile].name);
    }
    l.tile = known[key] = best;
}

static void build(Network& net, const Block& block, int batch, int forced) {
    std::mt19937 random(1);
    const auto byte = [&] { return static_cast<int8_t>(static_cast<int>(random() % 255) - 127); };
    for (const Shape& s : block.layers) {
        Layer layer;
        layer.shape = s;
        const size_t inputs = 1ull * batch * s.h * s.w * s.c, most = 1ull * batch * s.oh() * s.ow() * (s.n + s.twice.size());
        if (inputs > 0x3fffffff || most > 0x3fffffff) fail("%s: a batch of %d is too large", s.name.c_str(), batch);
        layer.pixels = batch * s.oh() * s.ow();
        layer.in.resize(inputs);
        std::generate(layer.in.begin(), layer.in.end(), byte);
        layer.weights.resize(static_cast<size_t>(s.n) * s.sum());
        std::generate(layer.weights.begin(), layer.weights.end(), byte);
        // Most outputs are then within INT8.
        const double deviation = 5400 * std::sqrt(1.0 * s.sum());
        for (int n = 0; n < s.n; n++) {
            layer.bias.push_back(static_cast<int>(random() % 4001) - 2000);
            layer.scale.push_back(static_cast<float>(40 / deviation * (0.5 + random() % 1000 / 1000.0)));
        }
        const int8_t* in = net.memory.copy(layer.in);
        std::vector<int> sources(s.n);
        for (int n = 0; n < s.n; n++) sources[n] = n;
        layer.plain = prepare(net.memory, layer, in, sources);
        sources.insert(sources.end(), s.twice.begin(), s.twice.end());
        layer.dup = prepare(net.memory, layer, in, sources);
        Comparison& c = layer.comparison;
        c.out = out_of(layer.dup), c.twice = twice_of(layer.dup), c.originals = net.memory.copy(s.twice);
        c.channels = s.n, c.copies = layer.copies(), c.count = layer.pixels * c.copies;
        net.layers.push_back(std::move(layer));
        cudaEvent_t event;
        CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        net.events.push_back(event);
    }
    std::vector<Comparison> comparisons;
    for (Layer& layer : net.layers) {
        if (layer.copies() == 0) continue;
        layer.comparison.first = net.compared_blocks;
        net.compared_blocks += compare_blocks(layer.comparison);
        comparisons.push_back(layer.comparison);
    }
    net.compared = static_cast<int>(comparisons.size());
    net.comparisons = net.memory.copy(comparisons);
    for (Layer& layer : net.layers) {
        tune(net, layer.plain, layer, forced);
        tune(net, layer.dup, layer, forced);
        // What tuning wrote shall not hide what is not written.
        const size_t copies = static_cast<size_t>(layer.pixels) * layer.copies();
        CHECK(cudaMemset(out_of(layer.plain), 0, layer.outputs()));
        CHECK(cudaMemset(out_of(layer.dup), 1, layer.outputs()));
        CHECK(cudaMemset(twice_of(layer.dup), 2, copies));
    }
    CHECK(cudaDeviceSynchronize());
}

// ---- Checks ----

// An output as the CPU computes it.
static int expected(const Layer& layer, int p, int n) {
    const Shape& s = layer.shape;
    const int x0 = p % s.ow() * s.sw - s.pw, y0 = p / s.ow() % s.oh() * s.sh - s.ph, image = p / s.ow() / s.oh();
    const int per = s.is_depthwise() ? 1 : s.c;
    int sum = 0;
    for (int r = 0; r < s.kh; r++)
        for (int q = 0; q < s.kw; q++)
            for (int c = 0; c < per; c++) {
                const int y = y0 + r, x = x0 + q;
                if (y < 0 || x < 0 || y >= s.h || x >= s.w) continue;
                const size_t at = ((1ull * image * s.h + y) * s.w + x) * s.c + (s.is_depthwise() ? n : c);
                sum += layer.in[at] * layer.weights[((1ull * n * s.kh + r) * s.kw + q) * per + c];
            }
    const float scaled = static_cast<float>(sum + layer.bias[n]) * layer.scale[n];
    return std::max(-128, std::min(127, static_cast<int>(std::lrint(scaled))));
}

static void check(Network& net, const std::vector<Graph*>& graphs) {
    std::mt19937 random(2);
    net.enqueue(PLAIN);
    net.enqueue(DUP);
    net.wait();
    if (net.read_flag() != 0) fail("duplicates differ without a fault");
    for (const Layer& layer : net.layers) {
        const char* name = layer.shape.name.c_str();
        const int copies = layer.copies();
        const std::vector<int8_t> plain = fetch(out_of(layer.plain), layer.outputs()), dup = fetch(out_of(layer.dup), layer.outputs());
        const std::vector<int8_t> twice = fetch(twice_of(layer.dup), static_cast<size_t>(layer.pixels) * copies);
        if (plain != dup) fail("%s: outputs with duplicates differ from those without", name);
        for (int i = 0; i < 500; i++) {
            const int p = static_cast<int>(random() % layer.pixels), n = static_cast<int>(random() % layer.shape.n);
            const int value = plain[static_cast<size_t>(p) * layer.shape.n + n], right = expected(layer, p, n);
            if (value != right) fail("%s: pixel %d of channel %d is %d, not %d", name, p, n, value, right);
        }
        for (size_t i = 0; i < twice.size(); i++)
            if (twice[i] != dup[i / copies * layer.shape.n + layer.shape.twice[i % copies]]) fail("%s: duplicate %zu differs", name, i);
        // A flipped bit of a duplicate, or of its original, has to be found.
        for (int i = 0; i < 8 && copies > 0; i++) {
            const size_t last = twice.size() - 1, at = i == 0 ? 0 : i == 1 ? last : random() % twice.size();
            const size_t original = at / copies * layer.shape.n + layer.shape.twice[at % copies];
            int8_t* where = i % 2 == 0 || i == 1 ? twice_of(layer.dup) + at : out_of(layer.dup) + original;
            const int8_t flipped = static_cast<int8_t>(twice[at] ^ 1 << random() % 8);
            put(where, flipped);
            launch(layer.comparison, net.flag, net.first);
            if (net.read_flag() != 1) fail("%s: a flipped bit at %zu is not found", name, at);
            compare_all<<<net.compared_blocks, COMPARED, 0, net.first>>>(net.comparisons, net.compared, net.flag);
            CHECK(cudaGetLastError());
            if (net.read_flag() != 1) fail("%s: a flipped bit at %zu is not found by the one comparison", name, at);
            put(where, twice[at]);
            launch(layer.comparison, net.flag, net.first);
            if (net.read_flag() != 0) fail("%s: the flag is set without a fault", name);
        }
    }
    // A wrong bias of one duplicate has to be found by whole inferences, and nothing after it is right again.
    for (const Layer& layer : net.layers) {
        for (int variant = DUP; variant <= ONCE && layer.copies() > 0; variant++) {
            for (int graph = 0; graph < 2; graph++) {
                int* where = layer.dup.bias + layer.shape.n + random() % layer.copies();
                const int right = fetch(where, 1)[0], wrong = 1 << 28;
                const auto run = [&] {
                    if (graph) graphs[variant]->launch();
                    else net.enqueue(static_cast<Variant>(variant));
                    return net.read_flag();
                };
                put(where, wrong);
                const char* name = layer.shape.name.c_str();
                if (run() != 1) fail("%s: `%s` does not find a wrong duplicate", name, NAMES[variant]);
                put(where, right);
                if (run() != 0) fail("%s: `%s` finds what is not wrong", name, NAMES[variant]);
            }
        }
    }
}

// ---- Times ----

struct Interval {
    double median, low, high;
};

static double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const size_t n = values.size();
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// The median of paired ratios less 1, between the narrowest order statistics that hold it at 95 % or more.
static Interval overhead(const std::vector<double>& of, const std::vector<double>& to) {
    std::vector<double> ratios;
    for (size_t i = 0; i < of.size(); i++) ratios.push_back(of[i] / to[i] - 1);
    std::sort(ratios.begin(), ratios.end());
    const int n = static_cast<int>(ratios.size());
    int rank = 0;  // how many samples are left out on either side
    double below = 0, chance = std::pow(0.5, n);
    for (int i = 0; i < n / 2; i++) {
        below += chance;
        if (2 * below > 0.05) break;
        rank = i;
        chance *= 1.0 * (n - i) / (i + 1);
    }
    return {median(ratios), ratios[rank], ratios[n - 1 - rank]};
}

struct Options {
    std::vector<int> batches = {64};
    int samples = 21, forced = -1;
    double ms = 50;
    std::string only;
};

// Microseconds of an inference, by variant and sample.
template <typename F>
static std::vector<std::vector<double>> measure(Network& net, const Options& options, int variants, int inferences, F run) {
    Clock clock;
    std::vector<int> repeats(variants, 1);
    std::vector<std::vector<double>> us(variants);
    const auto time = [&](int variant) {
        return clock.time(net.first, [&] {
            for (int i = 0; i < repeats[variant]; i++) run(static_cast<Variant>(variant));
        });
    };
    // Repetitions for a sample, which warms up, too.
    for (int variant = 0; variant < variants; variant++) {
        for (float ms = time(variant); ms < options.ms * 1.1; ms = time(variant))
            repeats[variant] = static_cast<int>(repeats[variant] * std::min(10.0, std::max(1.1, options.ms * 1.2 / ms)) + 1);
    }
    for (int sample = 0; sample < options.samples; sample++) {
        for (int i = 0; i < variants; i++) {
            // Each variant comes first in its turn, and every other round runs backwards.
            const int at = sample % 2 ? variants - 1 - i : i, variant = (at + sample / 2) % variants;
            us[variant].push_back(time(variant) * 1000.0 / repeats[variant] / inferences);
        }
    }
    if (net.read_flag() != 0) fail("the flag is set after what was timed");
    return us;
}

static void print(const Block& block, int batch, const char* how, const std::vector<std::vector<double>>& us) {
    printf("%s,%s,%d,%.6f", block.network.c_str(), block.coverage.c_str(), batch, block.overhead);
    for (int variant : {PLAIN, DUP, SAME}) printf(",%.3f", median(us[variant]));
    const auto interval = [&](int variant) {
        const Interval of = overhead(us[variant], us[PLAIN]);
        printf(",%.5f,%.5f,%.5f", of.median, of.low, of.high);
    };
    interval(DUP);
    printf(",%s", how);
    interval(SAME);
    if (us.size() > AGAIN) {
        printf(",%.3f", median(us[ONCE]));
        interval(ONCE);
        interval(AGAIN);
    } else {
        printf(",,,,,,,");
    }
    printf("\n");
    fflush(stdout);
}

static void run(const Block& block, int batch, const Options& options) {
    Network net;
    build(net, block, batch, options.forced);
    fprintf(stderr, "%s %s, batch %d:", block.network.c_str(), block.coverage.c_str(), batch);
    for (const Layer& layer : net.layers) {
        const char* plain = layer.plain.is_depthwise ? "direct" : TILES[layer.plain.tile].name;
        const char* dup = layer.dup.is_depthwise ? "direct" : TILES[layer.dup.tile].name;
        fprintf(stderr, " %s %d+%d %s/%s", layer.shape.name.c_str(), layer.shape.n, layer.copies(), plain, dup);
    }
    fprintf(stderr, "\n");
    std::vector<Graph*> graphs;
    for (int variant = 0; variant < VARIANTS; variant++) {
        graphs.push_back(new Graph(net.first, [&] {
            for (int i = 0; i < INFERENCES; i++) net.enqueue(static_cast<Variant>(variant));
        }));
    }
    check(net, graphs);
    print(block, batch, "graph", measure(net, options, VARIANTS, INFERENCES, [&](Variant variant) { graphs[variant]->launch(); }));
    print(block, batch, "stream", measure(net, options, SAME + 1, 1, [&](Variant variant) { net.enqueue(variant); }));
    for (Graph* graph : graphs) delete graph;
}

int main(int count, char** words) {
    Options options;
    const char* path = nullptr;
    for (int i = 1; i < count; i++) {
        const std::string word = words[i];
        if (word.rfind("--", 0) != 0) {
            path = words[i];
            continue;
        }
        if (i + 1 == count) fail("%s needs a value", word.c_str());
        const std::string value = words[++i];
        if (word == "--batch") {
            options.batches.clear();
            std::istringstream list(value);
            for (std::string one; std::getline(list, one, ',');) options.batches.push_back(atoi(one.c_str()));
        } else if (word == "--samples") {
            options.samples = atoi(value.c_str());
        } else if (word == "--ms") {
            options.ms = atof(value.c_str());
        } else if (word == "--only") {
            options.only = value;
        } else if (word == "--tile") {
            for (int tile = 0; tile < TILE_COUNT; tile++)
                if (value == TILES[tile].name) options.forced = tile;
            if (options.forced < 0) fail("no tile is %s", value.c_str());
        } else {
            fail("%s?", word.c_str());
        }
    }
    const bool sizes = std::all_of(options.batches.begin(), options.batches.end(), [](int batch) { return batch > 0; });
    if (!path || options.batches.empty() || !sizes || options.samples < 6 || options.ms <= 0)
        fail("usage: filr_cost LAYERS [--batch 1,64,1024] [--samples 21] [--ms 50] [--only NETWORK] [--tile 64x64]");
    const std::vector<Block> blocks = read(path);
    cudaDeviceProp device;
    int driver, runtime, number;
    CHECK(cudaGetDevice(&number));
    CHECK(cudaGetDeviceProperties(&device, number));
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    printf("# gpu: %s, compute capability %d.%d, %d multiprocessors, driver for CUDA %d.%d, runtime %d.%d\n", device.name, device.major,
           device.minor, device.multiProcessorCount, driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    printf("# %d samples of at least %g ms for each time; a graph holds %d inferences\n", options.samples, options.ms, INFERENCES);
    printf("network,coverage,batch,macs_overhead,plain_us,dup_us,dup_same_stream_us,overhead_median,overhead_low,overhead_high,launches,"
           "same_stream_median,same_stream_low,same_stream_high,dup_compared_once_us,compared_once_median,compared_once_low,"
           "compared_once_high,plain_again_median,plain_again_low,plain_again_high\n");
    for (const Block& block : blocks)
        for (int batch : options.batches)
            if (options.only.empty() || options.only == block.network) run(block, batch, options);
    return 0;
}
