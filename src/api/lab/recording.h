/* recording.h: a launch that was recorded (record/record.h), opened to be run again, made smaller, or written as C. */
#ifndef LOCKSTEP_RECORDING_H
#define LOCKSTEP_RECORDING_H
#include "lab/lab.h"
#include "record/record.h"

struct lk_recording {
    struct handle handle;
    struct record r;
    u8 **bytes; /* of each object: what it holds before the launch; shrinking changes them */
    u8 **after; /* of each object: what the last run left there */
    u8 **other; /* the run before that */
    u64 *place; /* of each object: where it lies in the run */
    u32 runs;
    struct arena mem;
};
/* Calls `each` for every word of 8 bytes in a piece of memory that points into an object of the recording. */
void recording_pointers(const struct record *r, const u8 *bytes, u64 n,
                        void (*each)(void *self, u64 offset, const struct record_object *to, u64 into), void *self);
/* Iterates over the defined parts of an object, from *at on; false: the end. */
bool recording_defined(const struct record_object *o, u64 *at, struct record_run *out);
#endif
