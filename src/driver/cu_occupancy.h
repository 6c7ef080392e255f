/* cu_occupancy.h: how many blocks of a kernel a multiprocessor holds at a time. */
#ifndef LOCKSTEP_CU_OCCUPANCY_H
#define LOCKSTEP_CU_OCCUPANCY_H
#include "driver/cu.h"

/* Blocks on one multiprocessor, with so many threads and bytes of dynamic shared memory. */
u32 cu_occupancy(struct cu_function *f, lk_kernel *k, struct cu_device *d, u32 threads, u64 dynamic);
/* The same as cuOccupancyMaxActiveClusters has it, with a configuration whose shared memory may have 64 bits. */
cu_result cu_occupancy_clusters(int *clusters, struct cu_function *f, const struct cu_launch_config *x);
cu_result cu_occupancy_cluster_size(int *size, struct cu_function *f, const struct cu_launch_config *x);
#endif
