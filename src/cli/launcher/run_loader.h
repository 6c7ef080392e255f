/* Which programs `lockstep run` can reach: their loader must take a module from LD_AUDIT. */
#ifndef LOCKSTEP_RUN_LOADER_H
#define LOCKSTEP_RUN_LOADER_H
#include "base/base.h"

/* Programs that no module of the loader can reach are named before they run. Of a script its interpreter is looked at.
 */
bool run_reachable(const char *path, struct error *e);
/* What the loader of this glibc does wrong with a module in LD_AUDIT; NULL: nothing. */
const char *run_loader_fault(bool arm64, const char *glibc);
#endif
