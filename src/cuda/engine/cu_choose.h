/* cu_choose.h: which launches of a program are checked, as the options of `lockstep run` say.
 *
 * A launch whose kernel --kernel-name does not name is one of the others; so are, of those that it names, the first
 * ones (--launch-skip), all behind a number (--launch-count), and of each kernel at each shape those between
 * (--check-every). The others run unchecked, or not at all (--others skip). */
#ifndef LOCKSTEP_CU_CHOOSE_H
#define LOCKSTEP_CU_CHOOSE_H
#include "driver/cu.h"

/* Takes an option of the launcher; false: it is none of these. The value stays valid. */
bool cu_choose_option(const char *key, const char *value);
/* Makes a gpu ask, if there is anything to choose. */
void cu_choose_open(lk_gpu *gpu);
/* "3 of 1,204 launches were checked" and, where a name fits no kernel, the kernels that there were. */
void cu_choose_summary(struct text *t);
#endif
