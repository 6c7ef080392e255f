/* fft_plan.h: what the files of cuFFT share. */
#ifndef LOCKSTEP_FFT_PLAN_H
#define LOCKSTEP_FFT_PLAN_H
#include "libraries/library.h"

/* Whether what goes in, or comes out, are real numbers. */
bool fft_to_half(const struct fft_shape *s);
bool fft_from_half(const struct fft_shape *s);
/* Declares c->a.in and c->a.out by c->fft, and enqueues the transform. */
s64 fft_enqueue(struct library_call *c);
#endif
