/* What is done before and after each call of the program: its record becomes the thread's, and then is no longer. */
#include "driver/cu_engine.h"
#include "driver/gate.h"
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LIVE = 0x4c6b6763 };
static const u32 NO_CALL = UINT32_MAX;
_Static_assert(GATE_CALL_END - GATE_CALL == sizeof(struct cu_call), "the frame has room for the record");
_Static_assert(GATE_WORD - GATE_CALL == offsetof(struct cu_call, word), "word");
_Static_assert(GATE_RETURN - GATE_CALL == offsetof(struct cu_call, return_address), "return_address");
_Static_assert(GATE_CALLER - GATE_CALL == offsetof(struct cu_call, frame), "frame");
_Static_assert(GATE_SP - GATE_CALL == offsetof(struct cu_call, stack), "stack");
_Static_assert(GATE_RESULT - GATE_CALL == offsetof(struct cu_call, result), "result");
_Static_assert(GATE_WORDS >= GATE_REGISTERS + GATE_STACK + GATE_FLOATS, "words");

/* ---- functions by number ---- */

static const struct {
    const char *symbol, *parameters;
    char returns; /* r: a result code */
    bool thread;  /* stream 0 is the thread's default stream */
} entry[] = {
#define ENTRY(symbol, function, name, since, thread, returns, parameters) { #symbol, parameters, #returns[0], thread },
#include "abi/libcuda.def"
#undef ENTRY
#define ENTRY(symbol, function, first, last, thread, returns, parameters) { #symbol, parameters, #returns[0], thread },
#include "abi/cudart.def"
#undef ENTRY
};
enum {
    DRIVER = 0
#define ENTRY(symbol, function, name, since, thread, returns, parameters) +1
#include "abi/libcuda.def"
#undef ENTRY
};

/* Those of the libraries (abi/libraries.def). */
struct library_entry {
    const char *shown, *parameters;
    bool wide; /* i of its parameters has 64 bits */
};
#define NONE(symbol, first, last) { #symbol, "...", false },
#define CALL(symbol, shown, first, last, job, type, wide, ...) { #shown, __VA_ARGS__, wide },
static const struct library_entry entries_cublas[] = {
#include "abi/cublas.def"
};
static const struct library_entry entries_cublasLt[] = {
#include "abi/cublasLt.def"
};
static const struct library_entry entries_curand[] = {
#include "abi/curand.def"
};
static const struct library_entry entries_cufft[] = {
#include "abi/cufft.def"
};
static const struct {
    const struct library_entry *entry;
    u32 n;
} library[] = {
#define LIBRARY(name) { entries_##name, COUNT_OF(entries_##name) },
#include "abi/libraries.def"
#undef LIBRARY
};

static const struct library_entry *library_entry(u32 function)
{
    u32 of = function / GATE_LIBRARY - 1, at = function % GATE_RELEASE_12;
    return function >= GATE_LIBRARY && of < COUNT_OF(library) && at < library[of].n ? &library[of].entry[at] : NULL;
}

const struct cu_engine *cu_engine;
bool cu_engine_asks = true;

const char *cu_call_name(const struct cu_call *c)
{
    const struct library_entry *l = library_entry(c->function);
    return l ? l->shown : c->function < COUNT_OF(entry) ? entry[c->function].symbol : "?";
}
const char *cu_call_parameters(const struct cu_call *c)
{
    const struct library_entry *l = library_entry(c->function);
    return l ? l->parameters : c->function < COUNT_OF(entry) ? entry[c->function].parameters : "...";
}
bool cu_call_is_wide(const struct cu_call *c)
{
    const struct library_entry *l = library_entry(c->function);
    return l && l->wide;
}
bool cu_call_of_runtime(const struct cu_call *c) { return c->function >= DRIVER && c->function < COUNT_OF(entry); }
bool cu_call_returns_code(const struct cu_call *c)
{
    return c->function < COUNT_OF(entry) && entry[c->function].returns == 'r';
}

/* ---- threads ---- */

struct gate_thread {
    s32 tid;                  /* 0: the thread has ended, and another one may take this */
    struct cu_call *now;      /* atomic for other threads: its outermost call */
    u64 serial;               /* calls that it made */
    struct cu_held held;      /* what they use */
    u32 function;             /* the number of the innermost one's function; NO_CALL: the thread is in no call */
    struct gate_thread *next; /* all that there ever were */
};
static struct gate_thread *threads; /* only added to */
static u32 ended;                   /* atomic: of them, those of threads that have ended */
static _Thread_local struct gate_thread *mine;
static pthread_key_t ending;

static void thread_end(void *t)
{
    struct cu_held *held = &((struct gate_thread *)t)->held;
    cu_engine->cu_engine_thread_end();
    cu_held_release(held, 0, false); /* of a call that has no end */
    base_free(held->at);
    *held = (struct cu_held){ 0 };
    __atomic_store_n(&((struct gate_thread *)t)->tid, 0, __ATOMIC_RELEASE);
    __atomic_add_fetch(&ended, 1, __ATOMIC_RELEASE);
    mine = NULL;
}
static void key_make(void) { pthread_key_create(&ending, thread_end); }

static struct gate_thread *thread_take(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct gate_thread *t;
    s32 tid = (s32)syscall(SYS_gettid);
    pthread_once(&once, key_make);
    t = __atomic_load_n(&ended, __ATOMIC_ACQUIRE) ? __atomic_load_n(&threads, __ATOMIC_ACQUIRE) : NULL;
    for (; t; t = t->next) {
        s32 none = 0;
        if (__atomic_compare_exchange_n(&t->tid, &none, tid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) break;
    }
    if (t) {
        __atomic_sub_fetch(&ended, 1, __ATOMIC_RELAXED);
    } else {
        t = base_need(sizeof *t);
        *t = (struct gate_thread){ .tid = tid,
                                   .function = NO_CALL,
                                   .next = __atomic_load_n(&threads, __ATOMIC_RELAXED) };
        while (!__atomic_compare_exchange_n(&threads, &t->next, t, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) continue;
    }
    t->now = NULL;
    t->function = NO_CALL;
    pthread_setspecific(ending, t);
    return mine = t;
}

const struct cu_call *cu_call_now(void) { return mine ? mine->now : NULL; }

bool cu_call_per_thread(void) { return mine && mine->function < COUNT_OF(entry) && entry[mine->function].thread; }

u32 cu_call_number(void) { return mine ? mine->function : NO_CALL; }

struct cu_held *cu_call_held(void) { return mine && mine->now ? &mine->held : NULL; }

u64 cu_call_serial(void) { return mine ? mine->serial : 0; }

const struct cu_call *cu_call_of_thread(s32 tid)
{
    for (const struct gate_thread *t = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); t; t = t->next)
        if (__atomic_load_n(&t->tid, __ATOMIC_RELAXED) == tid) return __atomic_load_n(&t->now, __ATOMIC_ACQUIRE);
    return NULL;
}

bool cu_call_next(const struct gate_thread **at, s32 *tid, u64 *serial, const struct cu_call **call)
{
    const struct gate_thread *t = *at ? (*at)->next : __atomic_load_n(&threads, __ATOMIC_ACQUIRE);
    if (!t) return false;
    *at = t;
    *tid = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE);
    *serial = __atomic_load_n(&t->serial, __ATOMIC_RELAXED);
    *call = *tid ? __atomic_load_n(&t->now, __ATOMIC_ACQUIRE) : NULL;
    return true;
}

bool cu_call_is_live(const struct cu_call *c) { return c->live == LIVE; }

/* ---- calls ---- */

/* Of gate_entry.S, with the record in the gate's frame: the number, the words and the caller are filled in. */
__attribute__((visibility("hidden"))) void gate_begin(struct cu_call *c);
__attribute__((visibility("hidden"))) void gate_end(struct cu_call *c);

/* A call that was left by longjmp or an exception has no end: its record lies where the stack is free now, below this
 * one, or the mark in it has been written over. */
void gate_begin(struct cu_call *c)
{
    struct gate_thread *t = mine ? mine : thread_take();
    struct cu_call *outer = t->now;
    c->outer = outer && outer > c && outer->live == LIVE ? outer : NULL;
    c->of = t;
    c->live = LIVE;
    c->result = 0;
    c->start = 0;
    if (unlikely(!c->outer && (t->held.n || t->held.graphs))) { /* of a call that has no end */
        t->held.mark = 0;
        cu_held_release(&t->held, 0, false);
    }
    c->held = t->held.mark;
    c->graphs = t->held.graphs;
    c->around = c->outer ? t->function : NO_CALL;
    t->held.mark = t->held.n;
    t->function = c->function;
    if (c->outer) return;
    __atomic_store_n(&t->now, c, __ATOMIC_RELEASE); /* other threads read the record */
    __atomic_store_n(&t->serial, t->serial + 1, __ATOMIC_RELAXED);
    if (unlikely(__atomic_load_n(&cu_engine_asks, __ATOMIC_RELAXED))) cu_engine->cu_engine_begin(c);
}

static void held_end(struct gate_thread *t, const struct cu_call *c)
{
    struct cu_held *h = &t->held;
    if (h->n != h->mark || h->graphs) cu_held_release(h, h->mark, c->graphs);
    h->mark = c->held;
    t->function = c->around;
}

void gate_end(struct cu_call *c)
{
    struct gate_thread *t = c->of;
    c->live = 0;
    if (!c->outer) cu_engine->cu_engine_end(c);
    held_end(t, c);
    if (!c->outer) __atomic_store_n(&t->now, NULL, __ATOMIC_RELAXED);
}
