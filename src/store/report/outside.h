/* outside.h: an index that lies outside of its array, and the mistake behind it (outside.c). */
#ifndef LOCKSTEP_OUTSIDE_H
#define LOCKSTEP_OUTSIDE_H
#include "report/entry.h"

enum mistake {
    OUT_SOMEWHERE,
    OUT_UNGUARDED,
    OUT_OFF_BY_ONE,
    OUT_GUARD_WIDE,
    OUT_NEIGHBOUR,
    OUT_BEFORE,
    OUT_TILE, /* a loop takes as many elements in each pass as there are threads, and the last pass is part-filled */
    OUT_AXIS_UNGUARDED,
    OUT_AXIS_ONE,
    OUT_AXIS_WIDE,
    OUT_AXIS_NEIGHBOUR, /* along one axis of several */
    OUT_PITCH,          /* the length of a row is not that of the array */
    OUT_NEXT_ROW,       /* a column too many, which is the next row's but for the last row */
    OUT_STEP,           /* neighbouring threads are too far apart */
    OUT_AXES,           /* along several axes, or rows of an array whose dimensions are not known */
    OUT_SWAPPED,        /* the same, and with rows and columns the other way round all threads would be inside */
    OUT_ROW             /* a block for each row, with more threads than the row has columns */
};

struct outside {               /* an entry, seen as indices */
    s64 elements, first, last; /* of the object; smallest and largest index that was hit */
    s64 threads;               /* numbers that the rule has: 0 .. threads - 1 */
    enum index_kind rule;      /* INDEX_KINDS: none holds */
    s64 shift;
    enum mistake mistake;
    /* for those from OUT_AXIS_UNGUARDED on */
    u64 dim[8];
    u32 dims;             /* of the array; one, its elements, when it has none */
    u32 axis, along;      /* of the launch; the dimension that it runs along */
    bool local[3];        /* the index has threadIdx of this axis in it, not the number in the grid */
    s64 step[3];          /* elements from one thread to the next along each axis */
    u64 extent[3];        /* OUT_AXES: threads that there should be along each axis */
    u32 missing;          /* OUT_AXES: the axes, as bits */
    u32 used, by_step[3]; /* axes in the index; all of them, the smallest step first */
};

struct outside outside_look(const struct entry *e);
/* The formula of the index, made ready to be looked at; false: it is not known, or no sum of thread numbers along the
 * axes. */
bool outside_form(struct outside *o, const struct entry *e);
bool outside_pitch(struct outside *o, const struct index_form *form); /* rows are taken for longer or shorter */
/* Whether the threads get too far along an axis, and how. */
bool outside_axis(struct outside *o, const struct entry *e, const struct crowd *c, u32 axis);
u32 outside_dim(const struct outside *o, s64 step); /* the dimension that an axis runs along; dims: none */
s64 outside_threads(const struct outside *o, const struct entry *e, u32 axis); /* that take part along an axis */
#endif
