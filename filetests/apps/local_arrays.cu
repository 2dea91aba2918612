// Arrays of a thread, indexed by what is known only as it runs: a heap, a stack of work, small matrices.

#include <algorithm>

#include "check.h"

__global__ void heaps(const int* in, int* out, int each)
{
    int heap[24], size = 0;
    const int* mine = in + threadIdx.x * each;
    for (int k = 0; k < each; ++k) {
        int at = size++;
        heap[at] = mine[k];
        while (at > 0 && heap[(at - 1) / 2] > heap[at]) {
            int parent = (at - 1) / 2, value = heap[at];
            heap[at] = heap[parent];
            heap[parent] = value;
            at = parent;
        }
    }
    for (int k = 0; k < each; ++k) {
        out[threadIdx.x * each + k] = heap[0];
        int value = heap[--size], at = 0;
        for (int child = 1; child < size; child = 2 * at + 1) {
            if (child + 1 < size && heap[child + 1] < heap[child]) ++child;
            if (value <= heap[child]) break;
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = value;
    }
}

__global__ void determinants(const double* in, double* out)
{
    double m[4][4], sign = 1;
    for (int i = 0; i < 16; ++i) m[i / 4][i % 4] = in[threadIdx.x * 16 + i];
    for (int k = 0; k < 4; ++k) {
        int pivot = k;
        for (int i = k; i < 4; ++i)
            if (fabs(m[i][k]) > fabs(m[pivot][k])) pivot = i;
        if (pivot != k) sign = -sign;
        for (int j = 0; j < 4; ++j) {
            double other = m[k][j];
            m[k][j] = m[pivot][j];
            m[pivot][j] = other;
        }
        for (int i = k + 1; i < 4; ++i) {
            double factor = m[i][k] / m[k][k];
            for (int j = k; j < 4; ++j) m[i][j] -= factor * m[k][j];
        }
    }
    out[threadIdx.x] = sign * m[0][0] * m[1][1] * m[2][2] * m[3][3];
}

int main()
{
    const int threads = 48, each = 21;
    std::vector<int> in(threads * each);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>((i * 2654435761u) >> 8 & 0xfff) - 2000;
    int* out = upload(std::vector<int>(in.size()));
    heaps<<<1, threads>>>(upload(in), out, each);
    std::vector<int> found = download(out, in.size());
    for (int t = 0; t < threads; ++t) std::sort(in.begin() + t * each, in.begin() + (t + 1) * each);
    expect("heaps of threads", found == in);

    // Lower triangles times upper triangles, so that the determinants are known.
    std::vector<double> matrices(32 * 16);
    for (int t = 0; t < 32; ++t)
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j)
                for (int k = 0; k <= std::min(i, j); ++k)
                    matrices[t * 16 + i * 4 + j] += (k == i ? 1 : (t + i) % 3) * (k == j ? t + 2 : j - k);
    double* values = upload(std::vector<double>(32));
    determinants<<<1, 32>>>(upload(matrices), values);
    std::vector<double> value = download(values, 32);
    bool right = true;
    for (int t = 0; t < 32; ++t) {
        double want = (t + 2.0) * (t + 2.0) * (t + 2.0) * (t + 2.0);
        right &= value[t] > want * (1 - 1e-9) && value[t] < want * (1 + 1e-9);
    }
    expect("determinants", right);
    return verdict();
}
