/* cover.h: what of a kernel was reached (lab_cover.c). */
#ifndef LOCKSTEP_COVER_H
#define LOCKSTEP_COVER_H
#include "base/base.h"
#include <lockstep_lab.h>

enum { COVER_MOST = 400 }; /* lines of a kernel; what is beyond is not counted */
enum { COVER_RAN = 1, COVER_BRANCH = 2, COVER_JUMPED = 4, COVER_FOLLOWED = 8 };
struct cover_line {
    u32 line, is; /* of the file; COVER_* */
};
struct lab_cover { /* no pointers: workers send it through a pipe */
    u32 n;
    struct cover_line at[COVER_MOST];
};
void lab_cover_add(struct lab_cover *to, u32 line, u32 is);
void lab_cover_merge(struct lab_cover *to, const struct lab_cover *from);
/* Lines and branches, counted and named. */
void lab_cover_sum(struct arena *mem, struct lab_cover *c, lk_test_kernel *to);

/* Watches launches of kernels of this file. */
struct cover_watch;
struct observer;
struct cover_watch *lab_cover_new(const char *file);
void lab_cover_free(struct cover_watch *w);
struct observer *lab_cover_observer(struct cover_watch *w, struct lab_cover *to); /* for one launch */
#endif
