/* view_check.h: accesses to bytes that are no element of the array that was passed (check/views.h). */
#ifndef LOCKSTEP_VIEW_CHECK_H
#define LOCKSTEP_VIEW_CHECK_H
#include "sim/observe.h"

struct view_check;
/* Who looks, before the first CTA, at views of which the kernel is given the address alone, and that are not dense. */
typedef void view_judge(void *self, const struct launch *l);
/* For a launch that has such views, or views that do not cover all of the memory behind them; NULL: it has none.
 * `next`: the observers that it has already. */
struct view_check *view_check_begin(const struct sim_launch *in, const struct mem *m, const struct observer *next,
                                    view_judge *judge);
const struct observer *view_check_observer(const struct view_check *c);
void view_check_free(struct view_check *c);
#endif
