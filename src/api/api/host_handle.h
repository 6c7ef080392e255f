/* host_handle.h: which pointers of a caller are handles, and which calls use what they name.
 *
 * Every function of the public interface begins with HOST_CALL, which names the handles it was given:
 *
 *     HOST_CALL(LK_BAD_INPUT, USE(STREAM, stream), USE(EVENT, event));
 *
 * It leaves the function, with a named error, unless each is a handle of that kind that nobody has destroyed. What the
 * handles name then stays until the function returns, whichever thread destroys them: a destroyed handle is refused
 * from then on, and what it named ends with the last call that uses it. Nobody waits for that, for the call that uses
 * it may wait for the thread that destroys it; only the end of a gpu waits, as it does for the gpu's work. */
#ifndef LOCKSTEP_HOST_HANDLE_H
#define LOCKSTEP_HOST_HANDLE_H
#include "base/base.h"
#include <lockstep.h>

enum handle_kind {
    HANDLE_EXEC, /* the first eight in the order of the words of lk_report_leaks_host */
    HANDLE_GRAPH,
    HANDLE_EVENT,
    HANDLE_STREAM,
    HANDLE_POOL,
    HANDLE_PHYSICAL,
    HANDLE_MODULE,
    HANDLE_ARRAY,
    HANDLE_LEAKS, /* the kinds above are reported as leaks when a program has not ended them */
    HANDLE_CONTRACT = HANDLE_LEAKS,
    HANDLE_LISTS, /* those before it are in a list of their gpu */
    HANDLE_KERNEL = HANDLE_LISTS,
    HANDLE_NODE,
    HANDLE_IMAGES,
    HANDLE_ORACLE, /* these three are of lab */
    HANDLE_RECORDING,
    HANDLE_TEST,
    HANDLE_GPU,
    HANDLE_KINDS
};

/* What every handle begins with. Its memory is never anybody else's (host_handle.c): a thread may look at it at any
 * time. */
struct handle {
    lk_gpu *gpu;
    struct handle *next, **link; /* in the list of its kind; link is what points here */
    const char *site;            /* the call that made it, where sites live for ever; else NULL */
    struct handle *parent;       /* that is used in its place, as a kernel's module, or NULL */
    u32 state;                   /* atomic: HANDLE_ALIVE until it is destroyed, and HANDLE_USE for each call */
    enum handle_kind kind;
    u32 (*end)(struct handle *h); /* how what it names ends; NULL: as its kind has it (host_handle.c) */
};
enum { HANDLE_ALIVE = 1, HANDLE_USE = 2, HANDLE_WITH_GPU = 1 << 30 /* its gpu ends it */ };

/* Memory for a handle of so many bytes, zeroed; NULL: there is none. */
void *handle_new(size_t bytes);
/* The same for n handles in a row; each has a multiple of HANDLE_ALIGN bytes. */
void *handles_new(size_t bytes, u32 n);
enum { HANDLE_ALIGN = 64 };
/* Every field is filled in: it becomes a valid handle, and enters the list of its gpu now or later. */
void handle_add(struct handle *h, lk_gpu *gpu, enum handle_kind kind);
void handle_open(struct handle *h, lk_gpu *gpu, enum handle_kind kind);
void handle_list(struct handle *h);
void handle_remove(struct handle *h); /* from that list, if it is in it */
/* Gives the memory back, also what was no handle yet. Its addresses stay known as those of a handle that has ended. */
void handle_free(void *handle, size_t bytes);
void handles_free(void *handle, size_t bytes, u32 n);

/* How what a handle names ends, when no call uses it any more: a number of CUresult. */
typedef u32 handle_ended(struct handle *h);
handle_ended host_exec_ended, host_graph_ended, host_event_ended, host_stream_ended, host_pool_ended,
    host_physical_ended, host_module_ended, host_array_ended, host_contract_ended;

/* ---- calls ---- */

struct host_use { /* a handle that a function was given */
    const void *handle;
    enum handle_kind kind;
    bool may_be_null;
    const char *name; /* for messages; NULL: that of its kind */
};
enum { HOST_USES = 6 }; /* that one function is given, at most */
struct host_call {
    struct handle *used[HOST_USES]; /* counted for this call */
    u32 n;
};
/* false: one of them is not one, and the error of the calling thread says so. */
bool host_enter(struct host_call *c, const char *function, const struct host_use *use, u32 n);
void host_leave(struct host_call *c);
/* The same for a further handle, such as a stream in a struct. */
bool host_enter_also(struct host_call *c, const char *function, struct host_use use);
const char *host_called(void);           /* the outermost function that the thread is in, or was in last */
void host_call_is(const char *function); /* for one without handles */
u32 host_depth(void);                    /* how many calls the calling thread is in, one within the other */
/* The handle is destroyed, by one call of all that try it: false for the others, with the error. If no other call uses
 * it, it has ended, and *status is how; else it ends later, and *status is 0. */
bool host_destroy(struct host_call *c, struct handle *h, const char *function, u32 *status);
/* The handle is destroyed: by whom no call has it. It ends now, or with the last call that uses it. */
void handle_destroy(struct handle *h);
/* Each handle of the gpu is refused from now on, and no call uses one any more: waits for those that do. */
void handles_still(lk_gpu *gpu);

/* Takes a lock until the function returns. */
static inline void host_unlock(lock_t *const *l) { unlock(*l); }
static inline lock_t *host_lock(const lock_t *l)
{
    lock((lock_t *)(uintptr_t)l);
    return (lock_t *)(uintptr_t)l;
}
#define HOST_LOCK(l) __attribute__((cleanup(host_unlock), unused)) lock_t *const locked_ = host_lock(l)

#define USE(KIND, given)                         \
    {                                            \
        .handle = (given), .kind = HANDLE_##KIND \
    }
#define USE_AS(KIND, given, words)                                \
    {                                                             \
        .handle = (given), .kind = HANDLE_##KIND, .name = (words) \
    }
#define USE_IF(KIND, given)                                           \
    {                                                                 \
        .handle = (given), .kind = HANDLE_##KIND, .may_be_null = true \
    }
#define HOST_CALL(otherwise, ...)                               \
    __attribute__((cleanup(host_leave))) struct host_call call; \
    const struct host_use uses_[] = { __VA_ARGS__ };            \
    if (unlikely(!host_enter(&call, __func__, uses_, COUNT_OF(uses_)))) return otherwise
#endif
