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
    FILL_ENDS,        /* lo or hi */
    FILL_LIST,        /* the numbers of `list` */
};
enum fill_form {                /* what is made of the elements that the kind gives */
                 FORM_PLAIN,    /* nothing */
                 FORM_SORTED,   /* they grow */
                 FORM_REPEATED, /* the first few of them, again and again, in random order */
};
struct fill {
    enum fill_kind kind;
    enum fill_form form;
    bool bounded;  /* RAND, NORMAL: lo and hi are given; else 0 and 1, for integers 0 and 99 */
    bool integers; /* RAND of floats: whole numbers, hi included */
    double lo, hi;
    double unit;      /* RAND of whole numbers: times this; 0: 1 */
    u8 value[8];      /* CONST: the element; MIXED: the odd one */
    const char *file; /* FILE: its path */
    const char *list; /* LIST: "[1,0,-2.5]" */
};
/* Writes `count` elements at `to`. `stream` tells the arrays of one seed apart. false: the file is not there, or has
 * another size. */
bool fill_make(const struct fill *f, const struct scalar *t, u64 count, u64 seed, u32 stream, void *to);
/* Contents by a word: those on which kernels show mistakes.
 *   exact        small whole numbers
 *   small, offset, large      around 1e-3, 1000, 1e4
 *   cancel, constant, counted pairs that nearly cancel; 1.5; i mod 1021 - 510
 *   sorted, repeated          the usual ones, growing; a few of them again and again
 *   halves       multiples of 1/2: ties of roundings
 *   whole, ends, lowest, highest    of a range: whole numbers in it; its ends, mixed; one of its ends alone
 *   huge, denormal, inf, nan  a sixteenth of the largest number and more; ...
 * false: there is no such word. */
bool fill_word(struct str word, const struct scalar *t, struct fill *out);
/* The same in place of usual contents, within their range: of uniform ones from 0 on, `small` is a part of them, a
 * millionth (of f16 a thousandth), as squares are of numbers that are small, and the lowest is not 0, which chance does
 * not give. */
bool fill_word_of(const struct fill *usual, struct str word, const struct scalar *t, struct fill *out);
enum { FILL_WORDS = 18 };
const char *fill_word_name(u32 word); /* below FILL_WORDS: the first find most */
/* Contents that are given, in place of a word: "[1,0,-2.5]", the elements in their order, or "@PATH", raw bytes. false:
 * it is neither, or a number is none of the type. `path` and `list` of *out point into the word. */
bool fill_given(const char *word, const struct scalar *t, struct fill *out);
/* How many elements a list has. */
u64 fill_list_count(const char *list);
/* What has to be true of an array for a word: any of these bits. */
enum fill_for {
    FILL_FOR_ANY = 1,    /* floats of which nothing is said */
    FILL_FOR_NORMAL = 2, /* floats around 0 */
    FILL_FOR_RANGE = 4,  /* floats between two numbers */
    FILL_FOR_WHOLE = 8,  /* whole numbers between two numbers */
};
u32 fill_word_for(u32 word);
/* The value x with P(X < x) = p for a standard normal X, 0 < p < 1: the same bits everywhere. Relative error below
 * 1.2e-9. */
double fill_quantile(double p);
#endif
