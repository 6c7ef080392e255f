/* dev_order.h: the search for results that depend on the order of execution (lk_launch.orders). */
#ifndef LOCKSTEP_DEV_ORDER_H
#define LOCKSTEP_DEV_ORDER_H
#include "dev/dev.h"

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
