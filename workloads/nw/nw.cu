// nw: the best global alignment of two proteins (Needleman and Wunsch), by dynamic programming.
//
// `score[r][c]` is the best score with which the first r residues of one protein align with the first c of the other;
// a pair of residues scores what BLOSUM62 says, a residue against a gap costs `gap`:
//
//     score[r][0] = -gap * r,    score[0][c] = -gap * c
//     score[r][c] = max(score[r-1][c-1] + pair(r, c), score[r-1][c] - gap, score[r][c-1] - gap)
//
// The result is the whole matrix; the host follows the best way back through it. One kernel writes the rims. Then the
// matrix is cut into square tiles, and a launch computes one diagonal of them, from the north-west to the south-east
// corner: a block takes a tile, and its threads, one for each column, sweep over it in a wave front, a row behind each
// other. The scores of pairs live in constant memory.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
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

constexpr int kTile = 16;      // cells of a tile each way, and threads of its block
constexpr int kRimBlock = 64;  // threads of a block that writes rims
constexpr int kResidues = 20;  // kinds of amino acids

__constant__ int8_t pair_scores[kResidues][kResidues];

__global__ void start_rims(int* score, int rows, int cols, int gap) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i <= cols) {
        score[i] = -gap * i;
    }
    if (0 < i && i <= rows) {
        score[i * (cols + 1)] = -gap * i;
    }
}

// Tile (i, j) begins below and to the right of cell (i * kTile, j * kTile) of the matrix. The tiles of a diagonal have
// the same i + j; block b takes the one with i = first + b.
__global__ void __launch_bounds__(kTile)
align_tiles(const uint8_t* __restrict__ down, const uint8_t* __restrict__ across, int* score, int rows, int cols,
            int gap, int diagonal, int first) {
    __shared__ int tile[kTile + 1][kTile + 1];
    __shared__ uint8_t residues[kTile];

    const int x = static_cast<int>(threadIdx.x);
    const int top = (first + static_cast<int>(blockIdx.x)) * kTile;
    const int left = diagonal * kTile - top;
    const int height = min(kTile, rows - top);
    const bool inside = left + x < cols;
    const int stride = cols + 1;

    // What the tiles to the north and the west left for this one.
    int* const corner = score + top * stride + left;
    if (x == 0) {
        tile[0][0] = corner[0];
    }
    if (inside) {
        tile[0][x + 1] = corner[x + 1];
    }
    if (x < height) {
        tile[x + 1][0] = corner[(x + 1) * stride];
        residues[x] = down[top + x];
    }
    const int residue = inside ? across[left + x] : 0;
    __syncthreads();

    for (int wave = 0; wave < height + kTile - 1; ++wave) {
        const int y = wave - x;
        if (inside && 0 <= y && y < height) {
            const int both = tile[y][x] + pair_scores[residues[y]][residue];
            tile[y + 1][x + 1] = max(both, max(tile[y][x + 1], tile[y + 1][x]) - gap);
        }
        __syncthreads();
    }

    if (inside) {
        for (int y = 1; y <= height; ++y) {
            corner[y * stride + x + 1] = tile[y][x + 1];
        }
    }
}

// The rows of BLOSUM62 up to the diagonal (Henikoff and Henikoff, PNAS 89, 1992), residues in the order
// A R N D C Q E G H I L K M F P S T W Y V.
static const int8_t kBlosum62[kResidues * (kResidues + 1) / 2] = {
    4,
    -1, 5,
    -2, 0, 6,
    -2, -2, 1, 6,
    0, -3, -3, -3, 9,
    -1, 1, 0, 0, -3, 5,
    -1, 0, 0, 2, -4, 2, 5,
    0, -2, 0, -1, -3, -2, -2, 6,
    -2, 0, 1, -1, -3, 0, 0, -2, 8,
    -1, -3, -3, -3, -1, -3, -3, -4, -3, 4,
    -1, -2, -3, -4, -1, -2, -3, -4, -3, 2, 4,
    -1, 2, 0, -1, -3, 1, 1, -2, -1, -3, -2, 5,
    -1, -1, -2, -3, -1, 0, -2, -3, -2, 1, 2, -1, 5,
    -2, -3, -3, -3, -2, -3, -3, -3, -1, 0, 0, -3, 0, 6,
    -1, -2, -2, -1, -3, -1, -1, -2, -2, -3, -3, -1, -2, -4, 7,
    1, -1, 1, 0, -1, 0, 0, 0, -1, -2, -2, 0, -1, -2, -1, 4,
    0, -1, 0, -1, -1, -1, -1, -2, -2, -1, -1, -1, -1, -2, -1, 1, 5,
    -3, -3, -4, -4, -2, -2, -3, -2, -2, -3, -2, -3, -1, 1, -4, -3, -2, 11,
    -2, -2, -2, -3, -2, -1, -2, -3, 2, -1, -1, -2, -1, 3, -3, -2, -2, 2, 7,
    0, -3, -3, -3, -1, -2, -2, -3, -3, 3, 1, -2, 1, -1, -2, -2, 0, -3, -1, 4,
};

static int pair_score(int a, int b) {
    const int row = std::max(a, b);
    return kBlosum62[row * (row + 1) / 2 + std::min(a, b)];
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

static uint8_t ancestral(uint32_t position) { return static_cast<uint8_t>(hash32(position) % kResidues); }

// A relative of the ancestral protein: of a hundred residues six are lost, six stand before new ones, 25 are replaced.
static std::vector<uint8_t> relative(int length, uint32_t seed) {
    std::vector<uint8_t> protein;
    for (uint32_t position = 0; static_cast<int>(protein.size()) < length; ++position) {
        const uint32_t draw = hash32(seed + position);
        const uint32_t fate = draw % 100;
        const uint8_t other = static_cast<uint8_t>((draw >> 8) % kResidues);
        if (fate >= 6) {
            protein.push_back(fate < 31 ? other : ancestral(position));
        }
        if (fate >= 94) {
            protein.push_back(other);
        }
    }
    protein.resize(length);
    return protein;
}

static std::vector<int> reference(const std::vector<uint8_t>& down, const std::vector<uint8_t>& across, int gap) {
    const int rows = static_cast<int>(down.size()), cols = static_cast<int>(across.size());
    std::vector<int> score(static_cast<size_t>(rows + 1) * (cols + 1));
    const auto at = [&](int r, int c) -> int& { return score[static_cast<size_t>(r) * (cols + 1) + c]; };
    for (int r = 0; r <= rows; ++r) {
        for (int c = 0; c <= cols; ++c) {
            if (r == 0 || c == 0) {
                at(r, c) = -gap * (r + c);
            } else {
                const int both = at(r - 1, c - 1) + pair_score(down[r - 1], across[c - 1]);
                at(r, c) = std::max({both, at(r - 1, c) - gap, at(r, c - 1) - gap});
            }
        }
    }
    return score;
}

// Goes back from the last cell along a best alignment and counts its pairs of equal residues.
static int identities(const std::vector<int>& score, const std::vector<uint8_t>& down,
                      const std::vector<uint8_t>& across, int gap) {
    size_t r = down.size(), c = across.size();
    const size_t stride = c + 1;
    int same = 0;
    while (r > 0 && c > 0) {
        const int here = score[r * stride + c];
        if (here == score[(r - 1) * stride + c - 1] + pair_score(down[r - 1], across[c - 1])) {
            --r, --c;
            same += down[r] == across[c];
        } else if (here == score[(r - 1) * stride + c] - gap) {
            --r;
        } else {
            --c;
        }
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
    const int rows = argc > 1 ? parse(argv[1], 1, 4096) : 190;
    const int cols = argc > 2 ? parse(argv[2], 1, 4096) : 180;
    const int gap = argc > 3 ? parse(argv[3], 0, 100) : 6;
    if (argc > 4 || rows < 0 || cols < 0 || gap < 0) {
        std::fprintf(stderr, "usage: %s [rows 1..4096] [cols 1..4096] [gap 0..100]\n", argv[0]);
        return 2;
    }

    const std::vector<uint8_t> down = relative(rows, 0x10000u), across = relative(cols, 0x20000u);
    int8_t scores[kResidues][kResidues];
    for (int a = 0; a < kResidues; ++a) {
        for (int b = 0; b < kResidues; ++b) {
            scores[a][b] = static_cast<int8_t>(pair_score(a, b));
        }
    }

    uint8_t* device_down = nullptr;
    uint8_t* device_across = nullptr;
    int* score = nullptr;
    std::vector<int> result(static_cast<size_t>(rows + 1) * (cols + 1));
    const size_t bytes = result.size() * sizeof(int);
    CUDA_CHECK(cudaMalloc(&device_down, rows));
    CUDA_CHECK(cudaMalloc(&device_across, cols));
    CUDA_CHECK(cudaMalloc(&score, bytes));
    CUDA_CHECK(cudaMemcpyToSymbol(pair_scores, scores, sizeof scores));
    CUDA_CHECK(cudaMemcpy(device_down, down.data(), rows, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_across, across.data(), cols, cudaMemcpyHostToDevice));

    start_rims<<<std::max(rows, cols) / kRimBlock + 1, kRimBlock>>>(score, rows, cols, gap);
    CUDA_CHECK(cudaGetLastError());
    const int tile_rows = (rows + kTile - 1) / kTile, tile_cols = (cols + kTile - 1) / kTile;
    for (int diagonal = 0; diagonal < tile_rows + tile_cols - 1; ++diagonal) {
        const int first = std::max(0, diagonal - tile_cols + 1);
        const int last = std::min(diagonal, tile_rows - 1);
        align_tiles<<<last - first + 1, kTile>>>(device_down, device_across, score, rows, cols, gap, diagonal, first);
        CUDA_CHECK(cudaGetLastError());
    }

    CUDA_CHECK(cudaMemcpy(result.data(), score, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_down));
    CUDA_CHECK(cudaFree(device_across));
    CUDA_CHECK(cudaFree(score));

    const bool pass = result == reference(down, across, gap);
    std::printf("nw %d x %d residues: score %d, %d identities, checksum 0x%016llx, %s\n", rows, cols, result.back(),
                identities(result, down, across, gap),
                static_cast<unsigned long long>(checksum(result.data(), bytes)), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
