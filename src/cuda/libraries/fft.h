/* fft.h: discrete Fourier transforms of any length, in double. */
#ifndef LOCKSTEP_FFT_H
#define LOCKSTEP_FFT_H
#include "base/base.h"
#include <complex.h>

struct fft;                 /* a transform of one length */
struct fft *fft_new(s64 n); /* NULL: no memory */
void fft_free(struct fft *f);
/* x becomes its transform, sum over k of x[k] e^(-2 pi i j k / n); inverse: with the other sign, and not divided by n.
 * Work of its own in `f`: one thread at a time. */
void fft_do(struct fft *f, double complex *x, bool inverse);
#endif
