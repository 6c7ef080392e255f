/* cu_wrong.h: an argument that a call is refused for, in words, by its name in the table of calls (cu_reason.h).
 *
 * `names` is the column of parameters of a row, n the parameter. Each gives the call its reason and leaves the error to
 * the caller. */
#ifndef LOCKSTEP_CU_WRONG_H
#define LOCKSTEP_CU_WRONG_H
#include "driver/cu.h"

/* It is no handle of that kind: NULL, one that was destroyed, one of another kind, or none at all. */
void cu_wrong_handle(const char *names, u32 n, const void *handle, enum cu_kind kind);
/* No memory of so many bytes can be read or written there. */
void cu_wrong_pointer(const char *names, u32 n, const void *at, u64 bytes);
/* A number; rule: what it must be, "more than 0". */
void cu_wrong_number(const char *names, u32 n, u64 value, const char *rule, ...) __attribute__((format(printf, 4, 5)));
#endif
