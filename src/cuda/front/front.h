/* front.h: how Lockstep gets in front of a program: lockstep-front.so, an rtld-audit(7) module that `lockstep run`
 * names in LD_AUDIT.
 *
 *   front.c         what the loader asks: which file a name stands for, and what to do with an object it has mapped
 *   front_object.c  finds the CUDA runtime that is linked into an object, by its symbol tables
 *   front_exec.c    keeps the module in the environment of children
 *   front_signal.c  asks the engine when the program sets handlers or masks of signals, and before it leaves
 *   front_channel.c maps the memory that reports go to
 *   front_clock.c   tells the engine when the program reads a clock
 *   front_branch.c  redirects a function: one branch at its entry, to an island within reach
 *   front_producer.c  comes between a program and the libraries that make cubins
 *   abi/cudart.def  the names of the runtime's entries
 *   producer.def    the functions of the libraries that make cubins
 *
 * The module lives in a link namespace of its own, with a libc of its own, so it includes nothing of Lockstep and is
 * not part of liblockstep. The loader calls it while it holds its lock and has run no constructor of the object: what
 * is done there must open no library. Ours are opened at the first call of a redirected entry.
 *
 * Memory comes from mmap and is never given back: there is one table for each runtime that was met. */
#ifndef LOCKSTEP_FRONT_H
#define LOCKSTEP_FRONT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One entry of one runtime. The code of an island reads `target` by its offset 0. */
struct front_entry {
    void *target;     /* where a call goes: first front_resolver, then our function */
    const char *name; /* in the runtime */
    uint32_t runtime; /* which of front_runtime_file it is of */
};

enum { FRONT_RUNTIMES = 3, FRONT_FIRST = 11 }; /* libcudart.so.11.0, .12, .13 */
extern const char *const front_runtime_file[FRONT_RUNTIMES];

struct front_hit { /* a function of an object, and the entry that takes its place */
    uint8_t *at;   /* where it is mapped */
    size_t bytes;  /* of its code */
    struct front_entry *entry;
};
enum front_failure {
    FRONT_NO_ROOM, /* no free address range is near enough for a branch */
    FRONT_DENIED,  /* the process may not change its code */
    FRONT_SHORT,   /* a function is too short for a branch */
};

/* front.c */
struct front_entry *front_entry_of(uint32_t runtime, const char *name); /* NULL: the runtime has no such entry */
void *front_resolve(struct front_entry *e); /* called by the first call of an entry; it cannot fail, it ends */
void front_say(const char *format, ...) __attribute__((format(printf, 1, 2))); /* one line on standard error */
FILE *front_maps(void);           /* the list of mappings; of the calling thread where the first one has ended */
void *front_memory(size_t bytes); /* NULL: there is none */

/* Our function of this name, of one of our files; NULL: front_say has said why. */
void *front_own(const char *file, const char *name);

/* front_object.c. Redirects the CUDA runtime that the object at `path`, mapped at `bias`, has inside, if any. true: it
 * imports a name of front_exec_is, front_signal_is or front_clock_is. */
bool front_object(const char *path, uintptr_t bias, bool verbose);
/* Where a name that the object at `path` exports is, mapped at `bias`; 0: it exports no such name. */
uintptr_t front_object_symbol(const char *path, uintptr_t bias, const char *name);
/* The exports of the object at `path`, mapped at `bias`, that are named in producer.def are given ours. */
void front_object_exports(const char *path, uintptr_t bias, bool verbose);

/* front_exec.c. What the launcher has set is noted; then, with a handle of the program, libc's own functions. */
void front_exec_begin(void);
void front_exec_ready(void *program);
/* Whether a function of this name starts a program. */
bool front_exec_is(const char *name);
/* Where a call of it goes; 0: it stays. */
uintptr_t front_exec_of(const char *name);

/* front_signal.c. The same for handlers and masks of signals, _exit and daemon. front_signal_engine: the engine is
 * being loaded from this file, whose name lives as long; NULL: it is gone. */
void front_signal_ready(void *program);
void front_signal_engine(const char *file, uintptr_t bias);
bool front_signal_is(const char *name);
uintptr_t front_signal_of(const char *name);
/* Tells the engine that the program becomes another one, or ends inside libc; back: it did not. */
void front_signal_replaced(bool back);
/* front_channel.c. Maps the memory for reports; then tells the engine of it, which is being loaded. */
void front_channel_begin(void);
void front_channel_engine(const char *file, uintptr_t bias);

/* Tells the engine, if it is there, that the program has read the clock of this number (front_clock.c), from the call
 * that returns to `address`, with this stack pointer after the return. */
void front_clock_note(uint32_t clock, const void *address, const void *stack);

/* front_clock.c. Whether a function of this name reads a clock; where a call of it goes, given where the loader found
 * the clock itself. */
bool front_clock_is(const char *name);
uintptr_t front_clock_of(const char *name, uintptr_t found);
/* front_producer.c. Whether a file is a library that makes cubins. */
bool front_producer_file(const char *path);
/* What stands for its function `name`, which is at `real`; 0: it stays. `bias` tells libraries apart. */
uintptr_t front_producer_of(const char *name, uintptr_t real, uintptr_t bias);

/* front_branch.c. Redirects `hits` functions, of which those that are too short stay as they are and get at = NULL.
 * bti: the object's code has landing pads that must stay checked. false: none was changed, and *why says why. */
bool front_redirect(struct front_hit *hit, size_t hits, bool bti, enum front_failure *why);
#endif
