/* fft_shape.h: what a plan of cuFFT transforms, and how it lies in memory. */
#ifndef LOCKSTEP_FFT_SHAPE_H
#define LOCKSTEP_FFT_SHAPE_H
#include "base/base.h"

enum { FFT_RANK = 3 };
enum { FFT_C2C = 0x29, FFT_R2C = 0x2a, FFT_C2R = 0x2c, FFT_Z2Z = 0x69, FFT_D2Z = 0x6a, FFT_Z2D = 0x6c }; /* cufftType */

struct fft_layout {
    bool given; /* else the elements lie side by side, and the rest below means nothing */
    s64 embed[FFT_RANK], stride, distance;
};
struct fft_shape {
    u32 rank;
    s32 type;
    s64 n[FFT_RANK], batch;
    struct fft_layout in, out;
};
#endif
