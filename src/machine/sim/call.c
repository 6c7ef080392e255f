/* Calls. Lanes that call the same function share a frame; they meet again at (caller's frame, return block). Frames
 * form a tree, so recursion depths never merge and divergent indirect calls need no special case. Functions always
 * run in plain code. */
#include "sim/call.h"
#include "sim/asked.h"
#include "base/demangle.h"
#include "lower/functions.h"
#include "sim/exec.h"
#include "sim/finding_place.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/planes.h"
#include "sim/sim_run.h"
#include "sim/special_registers.h"

enum { MAX_DEPTH = 4096 };

char *local_of(struct warp *w)
{
    if (!w->local) {
        u64 p = pages_reserve(0, (u64)LANES * LOCAL_STACK);
        if (!p || base_alloc_refused() || !pages_commit(p, (u64)LANES * LOCAL_STACK))
            base_exhausted((u64)LANES * LOCAL_STACK, "local memory");
        w->local = (char *)(uintptr_t)p;
    }
    return w->local;
}

void frame_drop(struct warp *w, struct frame *f)
{
    while (f && --f->refs == 0 && f != w->base) {
        struct frame *up = f->up;
        f->next_free = w->free_frames;
        w->free_frames = f;
        f = up;
    }
}

enum { FRAMES_SEEN = 64 }; /* free frames that are looked at: a kernel may call thousands of functions in turn */

static struct frame *frame_new(struct warp *w, struct code *c)
{
    struct frame *f = NULL, **p = &w->free_frames;
    u32 seen = 0;
    for (; *p && (*p)->code != c && ++seen < FRAMES_SEEN;) p = &(*p)->next_free;
    if (*p) {
        f = *p;
        *p = f->next_free;
        if (f->code == c) return f;
        frame_free(f); /* of another function, and not used for long */
    }
    f = base_alloc(sizeof *f);
    if (!f) return NULL;
    f->code = c;
    f->R = base_aligned(c->bytes);
    f->pmem = base_aligned((size_t)c->low->pmem_bytes * LANES + 1);
    f->tags = base_aligned((size_t)c->low->ntag * LANES * 4 + 1);
    return f;
}

struct ptx_func *func_at(struct launch *l, u64 addr)
{
    for (const struct ptx_module *m = l->kernel->func->module->first; m && addr; m = m->next)
        for (u32 k = 0; k < m->nfunc; k++)
            if (m->func[k]->addr == addr) return m->func[k]->alias_of ? m->func[k]->alias_of : m->func[k];
    return NULL;
}

/* The plain version of a function, decoded when it is first called. */
static struct code *code_of(struct warp *w, struct ptx_func *f, u32 op)
{
    struct launch *l = w->cta->launch;
    struct error e = { 0 };
    lock(&l->sim->lock);
    struct lowered *low = lower_func(&l->sim->functions, f, &e);
    struct code *c = low ? code_for(low, l->in, true, &e) : NULL;
    unlock(&l->sim->lock);
    if (!c && e.code == ERR_STOPPED)
        launch_called_off(l);
    else if (!c)
        launch_fail(l, SIM_UNSUPPORTED, e.code, w->code->low, op, "%s", e.text);
    return c;
}

/* Bytes of a thread's stack that a frame and those below it take: local memory, and the parameters of calls. */
static u64 stack_used(const struct frame *f)
{
    const struct lowered *l = f->code->low;
    return (u64)f->local_base + l->local_bytes + f->top + f->params + l->pmem_bytes;
}

/* params: bytes of the stack that parameters of calls take. */
static void stack_overflow(struct warp *w, u32 op, u32 mask, u32 depth, u64 params)
{
    char cause[200];
    struct finding f = { .kind = F_stack_overflow, .cause = cause };
    int n = snprintf(cause, sizeof cause, "%u calls deep; the stack of a thread is %u KB", depth, LOCAL_STACK / 1024);
    if (params > LOCAL_STACK / 2)
        snprintf(cause + n, sizeof cause - (u32)n, ", and the parameters of these calls need %llu KB",
                 (unsigned long long)params / 1024);
    finding_add(w, op, &f, mask);
    launch_stop(w->cta->launch, SIM_TRAP);
}

/* A function is called once more by itself. The driver reserves the stack that a kernel needs, as far as the compiler
 * knows it: of a recursion it knows nothing, and the limit decides. What the text has of the frames is the least that
 * they take; the compiler may have more in them, or keep variables in registers. */
static void check_limit(struct warp *w, const struct frame *up, const struct lowered *to, u32 op, u32 mask, u64 bytes)
{
    struct launch *l = w->cta->launch;
    u64 limit = __atomic_load_n(&l->sim->stack_limit, __ATOMIC_RELAXED);
    char cause[320], fix[200];
    struct finding f = { .kind = F_stack_limit, .cause = cause, .fix = fix };
    if (likely(!limit || bytes <= limit) || __atomic_load_n(&l->deep, __ATOMIC_RELAXED)) return;
    const struct frame *same = up;
    while (same && same->code->low != to) same = same->up;
    if (!same || __atomic_exchange_n(&l->deep, true, __ATOMIC_RELAXED)) return;
    snprintf(cause, sizeof cause,
             "%u calls deep, the variables of these calls that lie in memory take %llu bytes of the thread's stack, "
             "and cudaLimitStackSize is %llu",
             up->depth + 1, (unsigned long long)bytes, (unsigned long long)limit);
    snprintf(fix, sizeof fix,
             "Call cudaDeviceSetLimit(cudaLimitStackSize, ...) with more than %llu before the launch, or bound the "
             "recursion.",
             (unsigned long long)bytes);
    finding_add(w, op, &f, mask);
}

/* Sends the lanes of mask into f. The split s becomes theirs. */
static bool enter_function(struct warp *w, struct split *s, u32 mask, struct ptx_func *f, const struct call *c,
                           const struct insn *i, u32 next, bool own)
{
    struct frame *up = s->fr;
    const struct lowered *from = up->code->low;
    struct code *code = code_of(w, f, i->op);
    if (!code) return false;
    const struct lowered *to = code->low;
    u32 base = up->local_base + from->local_bytes + up->top, params = up->params + from->pmem_bytes;
    if (up->depth + 1 >= MAX_DEPTH || stack_used(up) + to->local_bytes + to->pmem_bytes > LOCAL_STACK) {
        stack_overflow(w, i->op, mask, up->depth + 1, (u64)params + to->pmem_bytes);
        return false;
    }
    check_limit(w, up, to, i->op, mask, (u64)base + to->local_bytes);
    struct frame *fr = frame_new(w, code);
    if (!fr || !fr->R || !fr->pmem || !fr->tags) {
        launch_fail(w->cta->launch, SIM_UNSUPPORTED, ERR_MEMORY, w->code->low, i->op,
                    "no memory for the frame of a call");
        return false;
    }
    fr->up = up;
    fr->depth = up->depth + 1;
    fr->local_base = base;
    fr->params = params;
    fr->top = 0;
    fr->ret_block = next;
    fr->call = c;
    fr->refs = 0;
    up->refs++;
    head_fill(w, code, fr->R, base);
    for (u32 k = 0; k < c->narg && k < f->nparam; k++) {
        u32 n = c->arg[k].size < f->param[k]->size ? c->arg[k].size : (u32)f->param[k]->size;
        for (u32 l = 0; l < LANES; l++)
            if (mask >> l & 1)
                memcpy(fr->pmem + (size_t)l * to->pmem_bytes + to->arg_off[k],
                       up->pmem + (size_t)l * from->pmem_bytes + c->arg[k].from, n);
    }
    asked->init_frame(w, fr, mask);
    if (code->watch & WATCH_INIT) asked->init_call(up, fr, c, mask);
    if (own) {
        s->fr = fr;
        s->block = 0;
        s->mask = mask;
        fr->refs++;
        frame_drop(w, up);
    } else
        exec_split(w, mask, 0, fr);
    return true;
}

/* ---- the function that is reached, against the prototype of the call ---- */

static void value_text(struct text *t, const struct ptx_var *v)
{
    if (v->type == T_PRED)
        text_add(t, "a predicate");
    else
        text_add(t, "%llu byte%s", (unsigned long long)v->size, plural(v->size));
}

/* A value of the function and one of the prototype: passed by one is taken by the other. */
static bool value_fits(const struct ptx_var *mine, const struct ptx_var *proto)
{
    bool is_open = (mine->ndims && !mine->size) || (proto->ndims && !proto->size); /* b8 x[] */
    return is_open || (mine->size == proto->size && (mine->type == T_PRED) == (proto->type == T_PRED));
}

/* The number of the first value that does not fit; n: all do. */
static u32 first_unfit(struct ptx_var *const *mine, struct ptx_var *const *proto, u32 n)
{
    u32 k = 0;
    while (k < n && value_fits(mine[k], proto[k])) k++;
    return k;
}

static bool values_fit(struct ptx_var *const *mine, u32 nmine, struct ptx_var *const *proto, u32 nproto)
{
    return nmine == nproto && first_unfit(mine, proto, nmine) == nmine;
}

/* Says which of the values differ, by number or by size. */
static void values_text(struct text *t, const char *what, const char *verb, struct ptx_var *const *mine, u32 nmine,
                        struct ptx_var *const *proto, u32 nproto)
{
    if (nmine != nproto) {
        text_add(t, "it %ss %u %s%s, and the prototype of this call has %u", verb, nmine, what, plural(nmine), nproto);
        return;
    }
    u32 k = first_unfit(mine, proto, nmine);
    text_add(t, "%s %u is ", what, k + 1);
    value_text(t, mine[k]);
    text_add(t, " there, and ");
    value_text(t, proto[k]);
    text_add(t, " in the prototype of this call");
}

/* Whether an indirect call may enter f: values are passed as the prototype has them and taken as f has them. Asked at
 * each call, so nothing is allocated where they agree. */
static bool prototype_holds(struct warp *w, const struct ptx_func *f, const struct call *c, u32 op, u32 mask)
{
    const struct ptx_func *p = c->proto;
    if (likely(!p || p == f)) return true;
    bool params = values_fit(f->param, f->nparam, p->param, p->nparam);
    if (likely(params && values_fit(f->ret, f->nret, p->ret, p->nret))) return true;
    struct arena mem = { 0 };
    struct text t = { 0 };
    struct demangled d;
    const char *name = demangle(&mem, f->name, &d) ? d.signature ? d.signature : d.name : arena_str(&mem, f->name);
    text_add(&t, "the function that is called is `%s`: ", name);
    if (!params)
        values_text(&t, "parameter", "take", f->param, f->nparam, p->param, p->nparam);
    else
        values_text(&t, "result", "return", f->ret, f->nret, p->ret, p->nret);
    struct finding x = { .kind = F_call_prototype, .cause = t.p };
    finding_add(w, op, &x, mask);
    launch_stop(w->cta->launch, SIM_TRAP);
    text_free(&t);
    arena_free(&mem);
    return false;
}

bool call_enter(struct warp *w, struct split *s, const struct insn *i, u32 next)
{
    const struct call *c = &w->code->low->call[i->site];
    if (c->builtin) {
        asked->builtin_call(w, c, i);
        return false;
    }
    if (c->func) {
        enter_function(w, s, s->mask, c->func, c, i, next, true);
        return true;
    }
    u64 target[LANES];
    u32 todo = s->mask;
    lane_values(w->code, w->R, i->a, CLS_AT(i, 1), 8, target);
    while (todo) {
        u32 l = (u32)__builtin_ctz(todo), same = lanes_alike(target, todo);
        todo &= ~same;
        struct ptx_func *f = func_at(w->cta->launch, target[l]);
        if (!f || !f->has_body || f->is_entry) {
            char cause[120];
            struct finding x = { .kind = F_call_target, .cause = cause };
            snprintf(cause, sizeof cause, "the value called is 0x%llx, which is the address of no function",
                     (unsigned long long)target[l]);
            finding_add(w, i->op, &x, same);
            launch_stop(w->cta->launch, SIM_TRAP);
            return true;
        }
        if (!prototype_holds(w, f, c, i->op, same)) return true;
        /* the last group takes the split itself, so that the frame of the caller stays referenced until then */
        if (!enter_function(w, s, same, f, c, i, next, todo == 0)) return true;
    }
    return true;
}

/* The largest operand of the active lanes. */
static u64 largest(char *restrict R, const struct insn *i, struct warp *w, u32 mask)
{
    const struct lop *o = &w->code->low->op[i->op];
    u32 width = lop_src(o, 0)->kind == O_REG ? w->code->reg[lop_src(o, 0)->reg].width : 8;
    u64 most = 0;
    EACH_SET (l, mask) {
        u64 x = lane_value(w, w->code, R, i->a, CLS_AT(i, 1), width, l);
        if (x > most) most = x;
    }
    return most;
}

static void put_all(char *restrict R, const struct insn *i, const struct warp *w, u32 mask, u64 v)
{
    const struct lop *o = &w->code->low->op[i->op];
    u32 width = lop_dst(o, 0)->kind == O_REG ? w->code->reg[lop_dst(o, 0)->reg].width : 8;
    EACH_SET (l, mask) memcpy(SLOT(R, i->d) + l * width, &v, width);
}

/* The frame's local memory grows by the largest request of the active lanes, at one place for all of them. */
int run_alloca(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    struct frame *f = w->cur->fr;
    u32 mask = active_lanes(w, R, i);
    if (!mask) return 0;
    u64 most = largest(R, i, w, mask), align = o->off > 0 && o->off <= 4096 ? (u64)o->off : 16,
        end = f->local_base + f->code->low->local_bytes + f->top, v = (end + align - 1) / align * align;
    u64 params = (u64)f->params + f->code->low->pmem_bytes;
    if (most > LOCAL_STACK || v + most + params > LOCAL_STACK) {
        stack_overflow(w, i->op, mask, f->depth, params);
        return EV_STOP;
    }
    f->top += (u32)(v + most - end);
    asked->init_alloca(w, v, most, mask);
    put_all(R, i, w, mask, v);
    return 0;
}

int run_stacksave(char *restrict R, const struct insn *i, struct warp *w)
{
    put_all(R, i, w, active_lanes(w, R, i), w->cur->fr->top);
    return 0;
}

int run_stackrestore(char *restrict R, const struct insn *i, struct warp *w)
{
    u32 mask = active_lanes(w, R, i);
    u64 most = largest(R, i, w, mask);
    if (mask && most <= w->cur->fr->top) w->cur->fr->top = (u32)most;
    return 0;
}

/* Lanes of mask return: results are copied, and the lanes are at the return block of the caller. */
void call_return(struct warp *w, struct split *s, u32 mask)
{
    struct frame *f = s->fr, *up = f->up;
    const struct lowered *from = f->code->low, *to = up->code->low;
    for (u32 k = 0; k < f->call->nret && k < from->func->nret; k++) {
        u32 n = f->call->ret[k].size < from->func->ret[k]->size ? f->call->ret[k].size : (u32)from->func->ret[k]->size;
        for (u32 l = 0; l < LANES; l++)
            if (mask >> l & 1)
                memcpy(up->pmem + (size_t)l * to->pmem_bytes + f->call->ret[k].from,
                       f->pmem + (size_t)l * from->pmem_bytes + from->ret_off[k], n);
    }
    if (f->code->watch & WATCH_INIT) asked->init_return(f, up, mask);
    if (mask != s->mask) {
        s->mask &= ~mask;
        exec_split(w, mask, f->ret_block, up);
        return;
    }
    up->refs++;
    s->fr = up;
    s->block = f->ret_block;
    frame_drop(w, f);
}
