/* A call of a function that is no definition: oracle_call.c has the table, oracle_window.c what works on windows. */
#ifndef LOCKSTEP_ORACLE_CALL_H
#define LOCKSTEP_ORACLE_CALL_H
#include "oracle/oracle_in.h"

struct call { /* a call on its way */
    struct oracle_build *b;
    struct oracle_graph *g;
    const char *name; /* of the function */
    const char *usage;
    const struct oracle_value *arg;
    u32 n;
};

/* Says how the function is called. Returns NULL. */
void *call_misused(const struct call *c, const char *why);
/* Argument i as an array, a whole number, an axis; NULL or false: it has been said why it is not one. */
struct oracle_node *call_array(const struct call *c, u32 i);
bool call_whole(const struct call *c, u32 i, s64 low, s64 high, s64 *out);
bool call_axis(const struct call *c, u32 i, u32 rank, u32 *out);
/* Whether argument i is there. */
static inline bool call_has(const struct call *c, u32 i) { return i < c->n && c->arg[i].kind != VALUE_NONE; }

struct oracle_node *call_conv1d(const struct call *c);
struct oracle_node *call_conv2d(const struct call *c);
struct oracle_node *call_conv_transpose1d(const struct call *c);
struct oracle_node *call_conv_transpose2d(const struct call *c);
struct oracle_node *call_max_pool1d(const struct call *c);
struct oracle_node *call_max_pool2d(const struct call *c);
struct oracle_node *call_avg_pool1d(const struct call *c);
struct oracle_node *call_avg_pool2d(const struct call *c);
struct oracle_node *call_unfold(const struct call *c);
#endif
