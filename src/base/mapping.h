/* mapping.h: what else the kernel's list of mappings tells; base.h has what most ask. */
#ifndef LOCKSTEP_MAPPING_H
#define LOCKSTEP_MAPPING_H
#include "base/base.h"

/* Whether another process may write the memory at an address: it is mapped as shared, or nobody can tell. Slow: reads a
 * file. */
bool mapping_shared_maybe(u64 at);
#endif
