/* cu_where.h: which line of the program made the call that a thread is in (gate.h), as a site of sites/where.h. */
#ifndef LOCKSTEP_CU_WHERE_H
#define LOCKSTEP_CU_WHERE_H
#include "driver/cu.h"

struct cu_call;

/* From now on host_site and host_name ask here; lines of where_listen go to this sender, NULL: nowhere. */
struct channel_writer;
void cu_where_open(struct channel_writer *to);
/* Of the gate, when a call begins: where an interpreter makes it, its lines are asked for now. */
void cu_where_begin(const struct cu_call *c);
bool cu_where_scripts(void); /* whether there is an interpreter */
bool cu_where_holds(void);   /* whether it has objects that hold memory until it ends, which nobody forgot */
/* The same in a child of fork, which has its own sender. */
void cu_where_forked(struct channel_writer *to);
/* The frames after the call that the calling thread is in, of compiled code; false: it is in none. */
struct where_stack;
bool cu_where_stack(struct where_stack *s);
/* ", held by x" or ", the variable x", as a mark of where.h, for a pointer that the call was given; NULL: not known. */
const char *cu_where_variable(u64 pointer);
/* The site of the call that the calling thread is in; NULL: it is in none. Lives for ever. */
const char *cu_site(void);
#endif
