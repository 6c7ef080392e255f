/* run_clients.h: the environment that clients of the GPU are given under `lockstep run`. */
#ifndef LOCKSTEP_RUN_CLIENTS_H
#define LOCKSTEP_RUN_CLIENTS_H
#include "base/base.h"

/* `folder` has our libraries, and below it what Python imports first. keep_pools: caching allocators stay. only: the
 * program alone is checked, and its children must not find our libraries. */
void clients_environment(const char *folder, bool keep_pools, bool only);
#endif
