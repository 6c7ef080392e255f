/* Includes counter.def once: a kind of row that the includer did not define expands to nothing, and all are undefined
 * again at the end. It has no guard: each reader of the table includes it for itself. */
#ifndef SPACE_COUNTER
#define SPACE_COUNTER(field, key, text)
#endif
#ifndef ACCESS_COUNTER
#define ACCESS_COUNTER(field, key, text)
#endif
#ifndef BULK_COUNTER
#define BULK_COUNTER(field, key, text)
#endif
#ifndef BLOCK_COUNTER
#define BLOCK_COUNTER(field, key, text)
#endif
#ifndef BARRIER_COUNTER
#define BARRIER_COUNTER(field, key, text)
#endif
#ifndef SUMS_COUNTER
#define SUMS_COUNTER(field, key, text)
#endif
#ifndef FOOTPRINT_COUNTER
#define FOOTPRINT_COUNTER(field, key, text)
#endif
#include "count/counter.def"
#undef SPACE_COUNTER
#undef ACCESS_COUNTER
#undef BULK_COUNTER
#undef BLOCK_COUNTER
#undef BARRIER_COUNTER
#undef SUMS_COUNTER
#undef FOOTPRINT_COUNTER
