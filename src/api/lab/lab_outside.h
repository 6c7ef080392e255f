/* lab_outside.h: oracles that are functions outside of Lockstep, asked over a socket: of a Python module, of a shared
 * object.
 *
 * The function runs in a process of its own, which is started for the first case and asked for each: what it prints,
 * writes over, raises, ends or waits for is the process's. Messages are a head and its bytes, in the order of the
 * machine. The process begins with READY or UNLOADED; an ASK is answered by ANSWER or FAILED. */
#ifndef LOCKSTEP_LAB_OUTSIDE_H
#define LOCKSTEP_LAB_OUTSIDE_H
#include "lab/lab.h"

enum { OUTSIDE_MAGIC = 0x316b6c6f, OUTSIDE_FD = 3, OUTSIDE_ELEMENTS = 1 << 20 };
enum outside_kind { OUTSIDE_READY, OUTSIDE_UNLOADED, OUTSIDE_ASK, OUTSIDE_ANSWER, OUTSIDE_FAILED };
struct outside_head {
    u32 magic, kind;
    u64 bytes; /* that follow: texts of UNLOADED and FAILED, outside_value lists */
};
/* An ASK is a count and then for each name: the length of the name, flags, rank (u32 each), the name, sizes (u64), and
 * the elements (f64) if they are given. An ANSWER is for each output: whether it has bounds (u64), values, bounds. */
enum outside_flag { OUTSIDE_IN = 1, OUTSIDE_OUT = 2, OUTSIDE_WHOLE = 4 };
struct outside_value {
    const char *name;
    u32 flags;
    struct oracle_shape shape; /* rank 0: a number */
    u64 count;
    double *value; /* what is given, then what is answered; NULL: neither */
    double *bound; /* of an output */
    bool bounded;  /* the answer has bounds */
};

/* Asks the function of an oracle line. false: e says that it cannot be asked (it cannot be loaded, it hangs). `why` is
 * not empty: it was asked and has failed, and the values mean nothing. */
bool outside_ask(struct lab_subject *s, const struct contract_text *line, struct outside_value *list, u32 n, char *why,
                 size_t size, struct error *e);
/* Ends the processes of a subject. */
void outside_end(struct lab_subject *s);
#endif
