/* sites.h: bytes in live objects by the place of their allocation, now and when there were most of them.
 *
 * A new peak comes with almost every allocation of a program that grows, so that nothing may be copied then: peaks have
 * numbers, and a place keeps what it held at the last one only when it changes for the first time after it. */
#pragma once
#include "base/base.h"

struct site_usage {
    const char *site;      /* where it was allocated: a text or a mark of where.h, which is kept once */
    u64 live, peak;        /* bytes, now and at the peak `number` */
    u32 count, peak_count; /* objects */
    u64 number;            /* of the peak that the two are of, unless a later one left this place as it is */
};

struct sites {
    struct site_usage *slot; /* by a hash of the place; NULL: free */
    u32 n, room;             /* places; slots, a power of two */
    u64 number;              /* peaks so far */
};

/* One object of a place more, or less; what is allocated at no place is left out. */
void sites_add(struct sites *s, const char *site, u64 bytes);
void sites_remove(struct sites *s, const char *site, u64 bytes);
void sites_peak(struct sites *s); /* there were never more bytes than now */
/* The places that held most at the peak, `most` of them; peak and peak_count are set. How many. */
u32 sites_most(const struct sites *s, struct site_usage *out, u32 most);
void sites_close(struct sites *s);
