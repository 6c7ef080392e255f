/* cu_run.h: the engine inside a program that `lockstep run` started: what it was told, and what it tells.
 *
 * The launcher says in LOCKSTEP_RUN where its shared memory is, and its options in LOCKSTEP_RUN_OPTIONS, a line
 * `key=value` each. The engine writes its reports into that memory (base/channel.h), each whole and in one step,
 * whenever there is something new, and at the end: a program that is killed loses nothing that was found more than a
 * moment ago. Without a launcher the report goes to standard error when the program ends. */
#ifndef LOCKSTEP_CU_RUN_H
#define LOCKSTEP_CU_RUN_H
#include "driver/cu_engine.h"

/* A report for findings where there is no gpu: in a child of fork, or where no device is visible. */
struct report *cu_run_alone(void);
/* Whether PTX for a newer architecture than the device's is refused. */
bool cu_run_strict(void);
#endif
