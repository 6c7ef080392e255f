/* cover.h: what of a kernel was reached (lab_cover.c). */
#ifndef LOCKSTEP_COVER_H
#define LOCKSTEP_COVER_H
#include "base/base.h"
#include <lockstep_lab.h>

enum { COVER_MOST = 400 }; /* lines of a kernel; what is beyond is not counted */
enum { COVER_RAN = 1, COVER_BRANCH = 2, COVER_JUMPED = 4, COVER_FOLLOWED = 8, COVER_OF_LINES = 15 };
/* of sites alone: some lanes jump and some do not, all jump, none does; not all lanes of the warp are there */
enum { COVER_SOME = 16, COVER_ALL = 32, COVER_NO = 64, COVER_THIN = 128 };
/* Points: sites by lanes, and by how often a warp comes there, to a power of two. A bit each, by hash: two may be one.
 */
enum { COVER_POINTS = 8192, COVER_WARPS = 64 }; /* the first warps of the grid, whose rounds are counted */
struct cover_line {
    u32 line, is; /* of the file; COVER_* */
};
struct lab_cover { /* no pointers: workers send it through a pipe */
    u32 n;
    struct cover_line at[COVER_MOST];
    u64 steps; /* operations that warps have run */
    u64 points[COVER_POINTS / 64];
};
void lab_cover_add(struct lab_cover *to, u32 line, u32 is);
void lab_cover_merge(struct lab_cover *to, const struct lab_cover *from);
/* How many points of x are not in `known`; those, in hexadecimal, into `list` where it is not NULL. */
u32 lab_cover_fresh(const struct lab_cover *known, const struct lab_cover *x, struct text *list);
u32 lab_cover_points(const struct lab_cover *c);
/* Lines and branches, counted and named. */
void lab_cover_sum(struct arena *mem, struct lab_cover *c, lk_test_kernel *to);

/* Watches launches of kernels of this file. */
struct cover_watch;
struct observer;
struct cover_watch *lab_cover_new(const char *file);
void lab_cover_free(struct cover_watch *w);
/* Code that it has seen is about to go. */
void lab_cover_forget(struct cover_watch *w);
struct observer *lab_cover_observer(struct cover_watch *w, struct lab_cover *to); /* for one launch */
#endif
