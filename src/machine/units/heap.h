/* heap.h: device malloc and free (heap.c). */
#ifndef LOCKSTEP_HEAP_H
#define LOCKSTEP_HEAP_H
#include "sim/machine.h"

u64 heap_alloc(struct warp *w, const struct insn *i, u32 lane, u64 bytes); /* 0: the heap has no room for it */
void heap_free(struct warp *w, const struct insn *i, u32 lane, u64 addr);
/* What a null pointer of this launch may come from: the malloc that gave one, in words; NULL: none did. */
const char *heap_refused(const struct launch *l, struct arena *mem);
#endif
