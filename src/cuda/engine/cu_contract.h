/* cu_contract.h: launches of a program are held against the contracts of their kernels (lockstep-contract(5)). */
#ifndef LOCKSTEP_CU_CONTRACT_H
#define LOCKSTEP_CU_CONTRACT_H
#include "api/host.h"

/* Takes an option of the launcher; false: it is not one of these. */
bool cu_contract_option(const char *key, const char *value);
/* A launch is about to be enqueued. What its arguments do not keep is a finding, and the launch goes on; one that keeps
 * its contract carries it, so that outputs and inputs are watched. */
void cu_contract_launch(const lk_kernel *kernel, lk_launch *launch);
/* The program ends: a file of --contract against which nothing was held is said. */
void cu_contract_end(void);
#endif
