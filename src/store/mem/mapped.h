/* mapped.h: how far the bytes at an address can be used (virtual.c). */
#ifndef LOCKSTEP_MAPPED_H
#define LOCKSTEP_MAPPED_H
#include "mem/mem.h"

/* How many of the bytes from an address on come before the first that lacks one of these rights (MEM_READABLE, ...), or
 * the object's end. An object that is not of reserved addresses has all rights. */
u64 mem_run_bytes(const struct mem_object *o, u64 addr, u64 bytes, u32 rights);
#endif
