/* exchange.h: times as other tools write and read them. */
#ifndef LOCKSTEP_JOURNAL_EXCHANGE_H
#define LOCKSTEP_JOURNAL_EXCHANGE_H
#include "journal/times.h"

enum exchange { EXCHANGE_GOOGLE, EXCHANGE_NVBENCH, EXCHANGES };
extern const char *const exchange_name[EXCHANGES];                /* "google", "nvbench" */
bool exchange_is(const struct json_value *v, enum exchange *out); /* by its form */
/* Adds the benchmarks of a file to the journal `to`. *is: it is one of theirs; if not, nothing was done. */
bool exchange_read(struct arena *a, const char *path, const char *to, bool *is, struct error *e);
void exchange_write(struct arena *a, enum exchange kind, const struct timed *t, u32 n, struct text *out);
#endif
