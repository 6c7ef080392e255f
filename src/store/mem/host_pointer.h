/* host_pointer.h: memory of the host that no device knows (pageable), where a kernel was given a pointer to it. */
#ifndef LOCKSTEP_HOST_POINTER_H
#define LOCKSTEP_HOST_POINTER_H
#include "mem/mem.h"

struct host_pointer {
    u64 pointer;                /* the value */
    enum process_memory memory; /* what it leads to */
    char file[64];              /* of PROCESS_FILE: whose variables these are */
    const char *name;           /* ", held by x" or ", the variable x", as a mark of sites/where.h; NULL: not known */
};
/* Who is asked, in the call that passes it, for the variable of a pointer; its texts live for ever. *stack: the pointer
 * leads into the stack of the calling thread. */
void host_pointer_from(const char *(*maker)(u64 pointer, bool *stack));
/* In a launch, of a pointer that leads to no allocation: whether it leads to memory of the host. It is remembered. m:
 * of the software GPU; NULL: of a real one. */
bool host_pointer_look(const struct mem *m, u64 pointer, struct host_pointer *out);
/* In an access to an address of no allocation: the same; `pointer` is the argument that it was made from, 0: none. */
bool host_pointer_find(const struct mem *m, u64 address, u64 pointer, struct host_pointer *out);
/* "memory of malloc, new or mmap, held by x". */
void host_pointer_text(const struct host_pointer *p, char *out, size_t size);

/* The host's shadow of a __device__ variable, which its name means in host code. The name lives for ever. */
void host_shadow_add(u64 host, u64 bytes, const char *name);
/* The variable as the source has it; false: the address is in none. */
bool host_shadow_name(u64 address, char *name, size_t n);
/* The advice for a kernel argument that points into such memory; false: it does not. */
bool host_shadow_fix(u64 address, char *fix, size_t n);
#endif
