/* cu_launch.h: launches with attributes, the attributes of kernels, and how many blocks of one a multiprocessor holds.
 */
#ifndef LOCKSTEP_CU_LAUNCH_H
#define LOCKSTEP_CU_LAUNCH_H
#include "driver/cu.h"

/* Reads the configuration of cuLaunchKernelEx; the arguments are not part of it. */
cu_result cu_launch_config_read(const struct cu_launch_config *x, struct cu_function *f, struct cu_launch *out);
/* Launches in the stream of `l`. */
cu_result cu_launch(void *function, const struct cu_launch *l);

enum cu_function_attribute { /* CUfunction_attribute */
                             CU_FUNC_MAX_THREADS,
                             CU_FUNC_SHARED,
                             CU_FUNC_CONST,
                             CU_FUNC_LOCAL,
                             CU_FUNC_REGISTERS,
                             CU_FUNC_PTX,
                             CU_FUNC_BINARY,
                             CU_FUNC_CACHE_CA,
                             CU_FUNC_DYNAMIC_SHARED,
                             CU_FUNC_CARVEOUT,
                             CU_FUNC_CLUSTER_MUST_BE_SET,
                             CU_FUNC_CLUSTER_X,
                             CU_FUNC_CLUSTER_Y,
                             CU_FUNC_CLUSTER_Z,
                             CU_FUNC_CLUSTER_ANY,
                             CU_FUNC_CLUSTER_POLICY
};
/* An attribute of a kernel on a device; `u` is lk_kernel_usage's. Not CU_FUNC_PTX. */
int cu_function_attribute(const struct cu_function *f, const lk_usage *u, const struct cu_device *d,
                          enum cu_function_attribute which);
/* Whether CUDA_LAUNCH_BLOCKING makes launches wait. */
bool cu_launch_blocks(void);

/* Blocks on one multiprocessor, with so many threads and bytes of dynamic shared memory. */
u32 cu_occupancy(struct cu_function *f, lk_kernel *k, struct cu_device *d, u32 threads, u64 dynamic);
/* The same as cuOccupancyMaxActiveClusters has it, with a configuration whose shared memory may have 64 bits. */
cu_result cu_occupancy_clusters(int *clusters, struct cu_function *f, const struct cu_launch_config *x);
cu_result cu_occupancy_cluster_size(int *size, struct cu_function *f, const struct cu_launch_config *x);
#endif
