/* run_script.h: what `lockstep run NAME` does with names that are no programs: a Python script is run by its
 * interpreter, other files are answered with the command that takes them. */
#ifndef LOCKSTEP_RUN_SCRIPT_H
#define LOCKSTEP_RUN_SCRIPT_H
#include "base/base.h"

/* The command that runs a script of Python which is not executable itself: `python3 NAME ARG...`, with NULL at the end,
 * for base_free; NULL: the name is not one, or no Python is on the path (then e says so). */
char **run_script_command(char **program, struct error *e);
/* Why a file cannot be run, and what takes it: always false. */
bool run_script_refuse(const char *name, struct error *e);
/* What a command is called: the script, or the module after -m, that an interpreter of Python is given; otherwise the
 * program. */
const char *run_script_name(char *const *program);
#endif
