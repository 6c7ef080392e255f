/* Operands of products, held against the tiles that tensor copies have laid (tiles.c). */
#ifndef LOCKSTEP_TILES_H
#define LOCKSTEP_TILES_H
#include "lanes/descriptor.h"
#include "units/bulk.h"

/* An operand of a product in shared memory. */
struct tile_reader {
    const char *name;       /* "a", "b" */
    u32 op;                 /* the product */
    u64 descriptor;         /* of the matrix */
    const struct matrix *m; /* the same */
    u32 first, lines;       /* its lines (rows of a; by k: k) */
    u32 skip, across;       /* its chunks of each */
};
void tiles_read(struct warp *w, const struct tile_reader *r); /* the product of this warp is issued */
#endif
