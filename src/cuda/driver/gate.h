/* gate.h: the call gate, through which the program calls every function of the drop-in libraries (gate_entry.S).
 *
 * A thread has one record at a time, that of its outermost call: cudaMalloc, which calls the driver's functions, is one
 * call. What wants to know who called, an allocation, a launch, a finding, asks cu_call_now(). */
#ifndef LOCKSTEP_GATE_H
#define LOCKSTEP_GATE_H
#include "driver/cu.h"
#include "abi/gate_layout.h"

struct cu_call {
    u32 function; /* its number: the entries of libcuda.def, then those of cudart.def; those of abi/libraries.def */
    u32 live;     /* a mark, while the function has not returned */
    u64 word[GATE_WORDS];       /* arguments: GATE_REGISTERS, GATE_STACK words of the stack, GATE_FLOATS */
    const void *return_address; /* in the program's code */
    const void *frame;          /* the caller's frame pointer, as it was when it called */
    const u64 *stack;           /* the caller's stack pointer when the call returns: its arguments on the stack */
    s64 result;                 /* what the function returned, when it did */
    struct cu_call *outer;      /* the call that this one is part of; NULL: none, this is a record of the thread */
    struct gate_thread *of;     /* the thread that makes it */
    u64 start;                  /* ns, when calls are logged */
    u32 held;                   /* cu_held.mark of the call around this one */
    u32 around;                 /* the number of the function of the call around this one */
    bool graphs;                /* cu_held.graphs of the call around this one */
};

/* Handles that the calls of a thread use (cu_handle.c): they are given back when the call returns. */
struct cu_held {
    struct cu_hold {
        void *handle;
        void *root;        /* what is counted for it */
        enum cu_kind kind; /* as it was asked for; 0: it is no handle any more */
    } * at;
    u32 n, cap;  /* of these */
    u32 mark;    /* the first of the innermost call */
    bool graphs; /* graphs_lock is the thread's */
};
/* Of the calling thread; NULL: it is in no call. */
struct cu_held *cu_call_held(void);
/* Gives back all from this place on, and the graphs, unless they are to be kept. */
void cu_held_release(struct cu_held *h, u32 mark, bool graphs);

/* The call that the calling thread is in; NULL: none, or none that came through the gate. */
const struct cu_call *cu_call_now(void);
/* The same of a thread by its number, for handlers of signals: it allocates nothing and takes no lock. */
const struct cu_call *cu_call_of_thread(s32 tid);

/* The next thread that made calls, after *at (NULL: the first), which is then that one: the call that it is in (NULL:
 * none) and that one's number; false: there is none. */
struct gate_thread;
bool cu_call_next(const struct gate_thread **at, s32 *tid, u64 *serial, const struct cu_call **call);
/* Whether this is the record, or a copy of the record, of a call that has not returned. */
bool cu_call_is_live(const struct cu_call *c);

/* The number of the thread's call, from 1 on. */
u64 cu_call_serial(void);
const char *cu_call_name(const struct cu_call *c);
/* The number of the function that the calling thread is in, the innermost one. */
u32 cu_call_number(void);
/* Whether the function returns a result code of CUDA's. */
bool cu_call_returns_code(const struct cu_call *c);
/* Whether it is one of the runtime's. */
bool cu_call_of_runtime(const struct cu_call *c);

/* gate_text.c. "cudaMemcpy(dst=0x..., src=0x..., count=4096, kind=HostToDevice)"; not raw: with names of buffers, and
 * no addresses of the host, "cudaMemcpy(dst=buffer 1, src=host memory, ...)". */
void cu_call_text(const struct cu_call *c, char *out, size_t size, bool raw);
/* One argument by its place in the list, 0 for the first; the first word of it, where it has several. */
u64 cu_call_argument(const struct cu_call *c, u32 index);
/* The same with its kind (gate_text.c); false: there are no more. */
bool cu_call_pointer(const struct cu_call *c, u32 index, char *kind, u64 *value);
/* Whether parameters of kind i have 64 bits, as in functions of libraries that end in _64. */
bool cu_call_is_wide(const struct cu_call *c);
/* As its row has them; "...": they are not known. */
const char *cu_call_parameters(const struct cu_call *c);
#endif
