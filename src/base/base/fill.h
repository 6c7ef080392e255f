/* Contents of arrays, made from a few words: zeros, iota, random numbers, a file. The command line and the contracts
 * of kernels use it.
 *
 * Everything random is a function of (seed, number of the argument, index of the element): element i is the i-th
 * value of a counter that is mixed (splitmix64), with no state in between. Only operations that IEEE 754 defines to
 * the bit are used on the way, and no function of the C library but those, so that the same words give the same bytes
 * on every machine. */
#ifndef LOCKSTEP_FILL_H
#define LOCKSTEP_FILL_H
#include "base/scalar.h"

enum fill_kind {
    FILL_UNINIT, /* nothing is written */
    FILL_ZEROS,
    FILL_ONES,
    FILL_IOTA, /* 0, 1, 2, ... as far as the type goes */
    FILL_CONST,
    FILL_RAND,        /* uniform: lo <= x < hi for floats, lo <= x <= hi for integers */
    FILL_NORMAL,      /* floats: mean lo, standard deviation hi */
    FILL_PERMUTATION, /* 0 .. count-1, each once, in random order */
    FILL_OFFSETS,     /* integers that grow from 0 to hi */
    FILL_FILE,        /* raw bytes */
    FILL_COUNTED,     /* floats: i mod 1021 - 510, which every order of elements shows */
    FILL_CANCEL,      /* floats: pairs of normal numbers that nearly cancel */
    FILL_MIXED,       /* floats: normal numbers, and about one in nine is `value`, of either sign */
};
struct fill {
    enum fill_kind kind;
    bool bounded;  /* RAND, NORMAL: lo and hi are given; else 0 and 1, for integers 0 and 99 */
    bool integers; /* RAND of floats: whole numbers, hi included */
    double lo, hi;
    u8 value[8];      /* CONST: the element; MIXED: the odd one */
    const char *file; /* FILE: its path */
};
/* Writes `count` elements at `to`. `stream` tells the arrays of one seed apart. false: the file is not there, or has
 * another size. */
bool fill_make(const struct fill *f, const struct scalar *t, u64 count, u64 seed, u32 stream, void *to);
/* Contents by a word, for arrays of floats: those on which kernels show mistakes. exact: small whole numbers; small;
 * offset: far from 0; large; cancel; constant; counted; huge: a sixteenth of the largest number and more; denormal;
 * inf; nan. false: there is no such word. */
bool fill_word(struct str word, const struct scalar *t, struct fill *out);
/* The same in place of usual contents: of uniform ones from 0 on, `small` is a part of them, a millionth (of f16 a
 * thousandth), as squares are of numbers that are small. */
bool fill_word_of(const struct fill *usual, struct str word, const struct scalar *t, struct fill *out);
extern const char *const fill_words[]; /* all of them, NULL behind the last; the finite ones first */
enum { FILL_WORDS_FINITE = 7, FILL_WORDS = 11 };
/* The value x with P(X < x) = p for a standard normal X, 0 < p < 1: the same bits everywhere. Relative error below
 * 1.2e-9. */
double fill_quantile(double p);
#endif
