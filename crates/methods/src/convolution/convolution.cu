// A convolution of bytes as two CUDA kernels, equal to the last bit to the network's own integers:
// a position of the output is a row, a channel of it a column; weights by row, column, channel of the input, channel of the output.
//
//     nvcc -ptx -arch=sm_80 convolution.cu -o convolution.ptx

struct Sizes {
    int height, width, channels;          // of the input
    int rows, columns, filters;           // of the output
    int kernel_height, kernel_width, stride_height, stride_width, pad_top, pad_left;
    int zero_in, zero_out;                // the bytes that stand for zero
};

// The byte of a sum: its product with the filter's multiplier, rounded to the nearest integer, ties to even, and clamped.
__device__ unsigned char byte_of(int sum, float multiplier, int zero) {
    float bounded = fminf(fmaxf(__fmul_rn((float)sum, multiplier), -zero), 255 - zero);
    return (unsigned char)(__float2int_rn(bounded) + zero);
}

// A thread makes one neuron.
extern "C" __global__ void direct(const unsigned char *input, const signed char *weights, const int *bias,
                                  const float *multipliers, unsigned char *output, Sizes s) {
    int filter = blockIdx.x * blockDim.x + threadIdx.x;
    int position = blockIdx.y * blockDim.y + threadIdx.y;
    if (filter >= s.filters || position >= s.rows * s.columns) return;
    int row = position / s.columns, column = position % s.columns;
    int sum = bias[filter];
    for (int r = 0; r < s.kernel_height; r++) {
        int y = row * s.stride_height + r - s.pad_top;
        if (y < 0 || y >= s.height) continue;
        for (int c = 0; c < s.kernel_width; c++) {
            int x = column * s.stride_width + c - s.pad_left;
            if (x < 0 || x >= s.width) continue;
            const unsigned char *from = input + (y * s.width + x) * s.channels;
            const signed char *by = weights + (r * s.kernel_width + c) * s.channels * s.filters + filter;
            for (int channel = 0; channel < s.channels; channel++)
                sum += (from[channel] - s.zero_in) * by[channel * s.filters];
        }
    }
    output[position * s.filters + filter] = byte_of(sum, multipliers[filter], s.zero_out);
}

// A product of matrices: 32 positions by 16 filters in each block, 16 terms at a time in shared memory; a thread makes two
// neurons of one filter.
extern "C" __global__ void tiled(const unsigned char *input, const signed char *weights, const int *bias,
                                 const float *multipliers, unsigned char *output, Sizes s) {
    __shared__ int values[32][17];
    __shared__ int factors[16][17];
    int filter = blockIdx.x * 16 + threadIdx.x;
    int first = blockIdx.y * 32;
    int terms = s.kernel_height * s.kernel_width * s.channels;
    int sums[2] = {0, 0};
    for (int begin = 0; begin < terms; begin += 16) {
        int term = begin + threadIdx.x;
        int channel = term % s.channels, tap = term / s.channels;
        int r = tap / s.kernel_width, c = tap % s.kernel_width;
        for (int half = 0; half < 2; half++) {
            int position = first + threadIdx.y + half * 16;
            int y = position / s.columns * s.stride_height + r - s.pad_top;
            int x = position % s.columns * s.stride_width + c - s.pad_left;
            bool inside = term < terms && position < s.rows * s.columns && y >= 0 && y < s.height && x >= 0 && x < s.width;
            values[threadIdx.y + half * 16][threadIdx.x] =
                inside ? input[(y * s.width + x) * s.channels + channel] - s.zero_in : 0;
        }
        int of = begin + threadIdx.y;
        factors[threadIdx.y][threadIdx.x] = of < terms && filter < s.filters ? weights[of * s.filters + filter] : 0;
        __syncthreads();
        for (int k = 0; k < 16; k++) {
            int factor = factors[k][threadIdx.x];
            sums[0] += values[threadIdx.y][k] * factor;
            sums[1] += values[threadIdx.y + 16][k] * factor;
        }
        __syncthreads();
    }
    for (int half = 0; half < 2; half++) {
        int position = first + threadIdx.y + half * 16;
        if (filter < s.filters && position < s.rows * s.columns)
            output[position * s.filters + filter] = byte_of(sums[half] + bias[filter], multipliers[filter], s.zero_out);
    }
}
