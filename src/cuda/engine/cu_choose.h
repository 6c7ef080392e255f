/* cu_choose.h: which launches of a program are checked, as the options of `lockstep run` say.
 *
 * A launch whose kernel --kernel-name does not name is one of the others; so are, of those that it names, the first
 * ones (--launch-skip), all after a number (--launch-count), and of each kernel at each shape those between
 * (--check-every). The others run unchecked, or not at all (--others skip). */
#ifndef LOCKSTEP_CU_CHOOSE_H
#define LOCKSTEP_CU_CHOOSE_H
#include "driver/cu.h"

/* Takes an option of the launcher; *known: whether it is one of these; false: this is no value for it. The value stays
 * valid. */
bool cu_choose_option(const char *key, const char *value, bool *known);
/* Makes a gpu ask, if there is anything to choose. */
void cu_choose_open(lk_gpu *gpu);
/* How many of so many launches were checked. */
u64 cu_choose_checked(u64 launches);
/* "3 of 1,204 launches were checked" and, where a name fits no kernel, the kernels that there were. */
void cu_choose_summary(struct text *t);
#endif
