/* mapping.h: what else the kernel's list of mappings tells; base.h has what most ask. */
#ifndef LOCKSTEP_MAPPING_H
#define LOCKSTEP_MAPPING_H
#include "base/base.h"

/* Whether another process may write the memory at an address: it is mapped as shared, or nobody can tell. Slow: reads a
 * file. */
bool mapping_shared_maybe(u64 at);

/* The file that is mapped at an address, as an absolute path: of code, the program or library that it is part of,
 * however that was named when it was started or loaded. false: there is none, or it has been replaced since. */
bool mapping_file(u64 at, char *path, size_t size);
/* A process whose first thread has ended, by pthread_exit, lives on, and /proc/self is that thread: its list of
 * mappings is empty, and it has no program any more. These ask the calling thread then. */
FILE *mapping_list(void);      /* the list, to be closed; NULL: it cannot be read */
const char *mapping_exe(void); /* the name in /proc under which the program's file can be opened */
/* process_vm_readv of the process itself. */
struct iovec;
s64 mapping_read(const struct iovec *to, u32 tos, const struct iovec *from, u32 froms);
#endif
