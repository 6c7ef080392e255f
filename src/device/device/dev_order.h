/* dev_order.h: the search for results that depend on the order of execution (lk_launch.orders). */
#ifndef LOCKSTEP_DEV_ORDER_H
#define LOCKSTEP_DEV_ORDER_H
#include "device/dev.h"

/* The same program has run on `other`, under another seed. *same: whether `bytes` bytes are the same there; else the
 * first difference becomes the finding order_dependent of d, unless `known`, with two operations that nothing orders
 * where there are such. false: e. */
struct order_range {
    u64 address;       /* on d */
    u64 other_address; /* on the other device */
    u64 bytes;
};
bool order_compare(struct device *d, struct device *other, const struct order_range *at, bool known, bool *same,
                   struct error *e);

struct orders;
/* keeps all memory as it is before the first run; NULL: e */
struct orders *orders_begin(struct mem *m, struct error *e);
/* After the first run: runs `first` again under orders 1 to n, observed by `watch`, and reports what they find that
 * the first had not, and the first result that differs; `alike` counts those before it. Leaves the first run's
 * results. */
bool orders_search(struct orders *x, struct sim *s, const struct sim_launch *first, const struct observer *watch, u32 n,
                   u32 *alike, struct error *e);
void orders_free(struct orders *x);
#endif
