/* count_write.h: the profile of a device, as text for people and as JSON for machines. */
#ifndef LOCKSTEP_COUNT_WRITE_H
#define LOCKSTEP_COUNT_WRITE_H
#include "count/count.h"

struct count_style {
    bool color;
    bool lines;    /* all lines, not only the five that cost most */
    bool timeline; /* the operations of a program, too */
    u32 width;     /* columns; 0: any */
};
void counts_text(struct counts *c, struct count_style style, struct text *out);
/* Of the devices of a process together, those that have counted, with what the reports of all have found. */
void counts_json(struct counts *const *c, u32 n, struct report *const *reports, u32 nreports, struct text *out);
#endif
