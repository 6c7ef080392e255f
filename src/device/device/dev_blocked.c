/* Whether anything but the launches in flight can still act, and what holds up an operation that one of them waits for.
 *
 * A deadlock is proved only where every thread of the program that could act sleeps: in a call of this device (S), or
 * outside of all calls, at a futex with no limit of time that only a thread of this process can wake (W), as the idle
 * threads of OpenBLAS, or who joins another thread. Suppose that at one moment all threads are in S or W, and that
 * neither an operation of the streams nor the launches can go on. Whoever is the first to act afterwards must have been
 * woken. One of S is woken by the end of an operation, and none will end. One of W is woken by a thread of the program
 * that acts before it, and there is none; that it waits for what the waiting thread would do next is the same case. So
 * nobody ever acts. Signals are asked about where the host is waited for (sim/wait.c).
 *
 * That moment is found by asking twice. The machine asks before and after it looks at memory. No is said only if since
 * the question before nobody has called, fallen asleep or woken up in S (streams_may_change), and none of W has run nor
 * has a thread begun (threads.mark). So between the two questions all slept at once. A thread that waits inside of
 * Lockstep is in a call, and never in W: our own threads wake it. One that is in none, but in a handler of ours, waits
 * at most for a lock, and would have run between two questions with no lock held. */
#include "device/dev_work.h"
#include "base/thread.h"
#include <inttypes.h>

static u32 (*calls_maker)(const char **site, u32 most); /* of blocked_calls_from */
static bool (*calls_inside)(s32 task);

void blocked_calls_from(u32 (*maker)(const char **site, u32 most), bool (*inside)(s32 task))
{
    __atomic_store_n(&calls_maker, maker, __ATOMIC_RELEASE);
    __atomic_store_n(&calls_inside, inside, __ATOMIC_RELEASE);
}

bool blocked_may_change(void *of)
{
    struct device *d = of;
    struct streams *s = work_used(d);
    struct threads t = { .inside = __atomic_load_n(&calls_inside, __ATOMIC_ACQUIRE) };
    if (!threads_count(&t)) return true;
    bool blocked = t.blocked && t.mark == __atomic_exchange_n(&d->work->blocked, t.mark, __ATOMIC_ACQ_REL);
    if (s && streams_may_change(s, blocked)) return true;
    /* without streams the one that sleeps is in a synchronous launch, and others need no stream to copy */
    return t.all > (s ? streams_sleeping(s) : 1) + (blocked ? t.blocked : 0);
}

/* ---- the explanation ---- */

static bool inside(const struct mem_object *o, u64 address) { return o && address - o->base < MAX_OF(o->size, 1u); }

/* Whether the operation may change this object, as far as its arguments tell. */
static bool may_write(const struct op *op, const struct mem_object *o)
{
    const struct dev_task *t = work_task(op);
    if (!t) return false;
    if (t->kind == OP_COPY) return inside(o, t->copy.to.host ? (u64)(uintptr_t)t->copy.to.host : t->copy.to.address);
    if (t->kind == OP_FILL) return inside(o, t->fill.address);
    if (t->kind != OP_LAUNCH) return false;
    for (u32 at = 0; at + 8 <= t->launch.kernel->param_bytes; at += 8) {
        u64 value;
        memcpy(&value, (const u8 *)t->launch.params + at, 8);
        if (inside(o, value)) return true;
    }
    return false;
}

/* "kernel set of stream 2". */
static void op_name(const struct op *op, struct text *out)
{
    const struct dev_task *t = work_task(op);
    const char *site = work_site(op_tag(op));
    if (t && t->kind == OP_LAUNCH) {
        char name[256];
        name_plain(t->launch.kernel->name, name, sizeof name);
        text_add(out, "kernel %s", name);
        if (site && strcmp(site, name)) text_add(out, " (%s)", site);
    } else {
        text_add(out, "%s%s%s%s", op_kind_name[op_kind(op)], site ? " (" : "", site ? site : "", site ? ")" : "");
    }
    char stream[STREAM_TEXT];
    stream_text(op_stream(op), stream);
    text_add(out, " of %s", stream_id(op_stream(op)) == 1 ? "the legacy default stream" : stream);
}

static const char *const reason_text[] = {
    [OP_BY_STREAM] = "in its stream",
    [OP_BY_EVENT] = "by an event",
    [OP_BY_LEGACY] = "", /* one of the two names says it */
    [OP_BY_GRAPH] = "in its graph",
};

/* "kernel set of stream 2 is queued behind kernel add of the legacy default stream, which is queued behind kernel await
 * of stream 1"; false: nothing connects them. host: the sentence goes on from what the host waits for. */
static bool path_text(struct op *from, struct op *to, bool host, struct text *out, bool *legacy)
{
    enum { MOST = 8 };
    struct op *path[MOST];
    enum op_reason why[MOST];
    u32 n = op_path(from, to, path, why, MOST);
    if (n > 1) op_name(to, out);
    for (u32 i = n; i-- > 1;) {
        text_add(out, "%s is queued behind ", i + 1 < n || host ? ", which" : "");
        op_name(path[i - 1], out);
        if (why[i] != OP_BY_LEGACY) text_add(out, " %s", reason_text[why[i]]);
        *legacy |= why[i] == OP_BY_LEGACY;
    }
    for (u32 i = 0; i < n; i++) op_release(path[i]);
    return n > 1;
}

/* " in cudaMemcpy at main.cu:41"; nothing where that is not known. */
static void calls_text(struct text *out)
{
    enum { MOST = 4 };
    const char *site[MOST];
    u32 (*maker)(const char **, u32) = __atomic_load_n(&calls_maker, __ATOMIC_ACQUIRE);
    u32 n = maker ? maker(site, MOST) : 0;
    for (u32 i = 0; i < n; i++) text_add(out, "%s%s", i ? " and " : " in ", site[i]);
}

/* Whether a thread of the program is in a call. */
static bool is_any_call(void)
{
    const char *site;
    u32 (*maker)(const char **, u32) = __atomic_load_n(&calls_maker, __ATOMIC_ACQUIRE);
    return !maker || maker(&site, 1);
}

/* Adds what the hosts wait for and, with `behind`, the path on which `me` holds that up, unless it was said. True: it
 * holds it up. */
static bool hosts_text(struct streams *s, struct op *me, bool behind, struct text *out, bool *legacy)
{
    enum { MOST = 4 };
    struct op *op[MOST];
    bool held = false;
    u32 n = streams_waited(s, op, MOST);
    for (u32 i = 0; i < n; i++) {
        if (!i) {
            text_add(out, "%s", out->n ? "; the host waits" : "the host waits");
            if (op_kind(op[0]) == OP_LAUNCH) calls_text(out); /* another operation is named by its call */
        }
        text_add(out, i ? ", and for " : " for ");
        bool path = behind && path_text(me, op[i], true, out, legacy);
        if (!path) op_name(op[i], out);
        held |= path;
        op_release(op[i]);
    }
    return held;
}

/* Another stopped kernel that could write `o`: describes its wait, and whether it waits for `me`. */
static bool waits_text(const struct device *d, const struct op *me, const struct mem_object *o,
                       const struct sim_waiting *other, u32 others, struct text *out, bool *cycle)
{
    for (u32 i = 0; o && i < others; i++) {
        const struct sim_waiting *x = &other[i];
        if (!x->address || !may_write(x->op, o)) continue;
        const struct mem_object *theirs = mem_find(d->mem, x->address);
        op_name(x->op, out);
        text_add(out, " could write %s, and waits itself: it is %s", o->name, x->thread);
        *cycle = theirs && may_write(me, theirs);
        if (*cycle) {
            text_add(out, "; ");
            op_name(me, out);
            text_add(out, " could write %s: each waits for the other", theirs->name);
        }
        return true;
    }
    return false;
}

bool blocked_explain(void *of, const struct sim_waiting *waits, const struct sim_waiting *other, u32 others,
                     struct text *cause, const char **fix)
{
    enum { MOST = 256 };
    struct device *d = of;
    struct streams *s = work_used(d);
    struct op *me = (struct op *)(uintptr_t)waits->op, *queued[MOST];
    if (!s) return false;
    const struct mem_object *o = mem_find(d->mem, waits->address);
    u32 n = streams_queued(s, queued, MOST);
    bool path = false, legacy = false, cycle = false;
    for (u32 i = n; i-- > 0;) { /* the oldest first */
        if (!path && may_write(queued[i], o)) {
            path = path_text(me, queued[i], false, cause, &legacy);
            if (path) text_add(cause, ", which waits for what writes %s", o->name);
        }
        op_release(queued[i]);
    }
    bool waiting = !path && waits_text(d, me, o, other, others, cause, &cycle);
    bool shared = o && (o->kind == MEM_PINNED || o->kind == MEM_REGISTERED || o->kind == MEM_MANAGED);
    if (!path && !waiting && shared && o->size > 8)
        text_add(cause, "only the host writes %s+0x%" PRIx64, o->name, waits->address - o->base);
    else if (!path && !waiting && shared)
        text_add(cause, "only the host writes %s", o->name);
    else if (!path && !waiting)
        text_add(cause, "nothing that can still run writes %s", o ? o->name : "it");
    /* who waits for launches that are being stopped may be the engine itself */
    bool hosts = !__atomic_load_n(&d->interrupt, __ATOMIC_RELAXED) || is_any_call();
    bool held = hosts && hosts_text(s, me, !path && !waiting, cause, &legacy);
    bool host = shared && !path && !waiting;
    *fix =
        host && held ? "Let the host write it before it waits for anything after the kernel: cudaMemcpy, cudaFree and "
                       "the default stream wait for all blocking streams; use streams made with cudaStreamNonBlocking."
        : host ? "Let the host write it before it waits for the kernel, or let another thread of the program do so."
        : held ? "Enqueue what writes it before the host waits for anything after the kernel: cudaMemcpy, cudaFree and "
                 "the default stream wait for all blocking streams; use streams made with cudaStreamNonBlocking."
        : legacy  ? "Enqueue kernels that wait for each other in streams made with cudaStreamNonBlocking, with nothing "
                    "of the default stream between them."
        : path    ? "Enqueue what the kernel waits for in another stream, not after the kernel."
        : cycle   ? "Let one of the two kernels write what the other waits for before it waits itself."
        : waiting ? "Let the kernel that writes the value do so before it waits itself."
                  : "Enqueue what writes it in another stream before the host waits for the kernel.";
    return path || waiting;
}
