/* barrier.cluster (cluster_barrier.c). */
#ifndef LOCKSTEP_CLUSTER_BARRIER_H
#define LOCKSTEP_CLUSTER_BARRIER_H
#include "units/attachments.h"

u32 cluster_arrived(const struct warp *w); /* the lanes that have arrived in this phase */
#endif
