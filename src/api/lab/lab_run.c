/* Running a case on the software GPU, under every check: arrays are made, filled, launched on, read back. */
#include "lab/lab_outside.h"
#include <inttypes.h>
#include <math.h>

enum { BYTES_MOST = 16 << 20, CANARY = 256 }; /* of all arrays of a case; after each of them */
enum { BUDGET_MOST = 200000000 };             /* warp instructions of a launch: some ten seconds */
enum { WARPS_FEW = 4000 };                    /* of which no launch is too long for a case, as far as they tell */
#define COST_MOST 4e7                         /* operations of an oracle: some seconds, with the launch */

/* Quiet and negative, with a payload that no kernel makes: f16 and f64 read it as NaN, too. */
const u8 lab_poison[8] = { 0xad, 0xfe, 0xad, 0xfe, 0xad, 0xfe, 0xfd, 0xff };

static bool refused(lk_gpu *gpu, lk_status status, struct error *e)
{
    error_set(e, status == LK_UNSUPPORTED ? ERR_UNSUPPORTED : ERR_INPUT, "%.500s", lk_gpu_error(gpu));
    return false;
}

void lab_close(struct lab_subject *s)
{
    lk_contract_free(s->contract);
    for (u32 i = 0; i < s->builds; i++) {
        lk_module_unload(s->build[i].module);
        base_free(s->build[i].state);
    }
    if (s->gpu) lk_gpu_destroy(s->gpu);
    outside_end(s);
    lab_cover_free(s->watch);
    s->watch = NULL;
    s->contract = NULL;
    s->builds = 0;
    s->gpu = NULL;
    arena_free(&s->mem);
}

/* ---- the module ---- */

/* The choices of a case, with names that live as long as the subject. */
static void keep_choices(struct lab_subject *s, const struct contract_case *c, struct contract_case *out)
{
    *out = (struct contract_case){ .choices = c->choices };
    for (u32 i = 0; i < c->choices; i++)
        out->choice[i] = (struct choice_value){ arena_str(&s->mem, str_of(c->choice[i].name)),
                                                arena_str(&s->mem, str_of(c->choice[i].value)) };
}

/* Compiles the file with what the contract asks for under these choices, and then what the command line says. */
static bool compile(struct lab_subject *s, const struct contract_case *c, lk_module **module, struct error *e)
{
    struct arena mem = { 0 };
    const char *name = lk_contract_kernel(s->contract, s->block), *words = lk_contract_flags(s->contract, s->block);
    VEC(const char *) flag = { 0 };
    for (const char *p = words; *(p += strspn(p, " \t"));) {
        size_t n = strcspn(p, " \t");
        VEC_PUSH(&mem, &flag, arena_str(&mem, (struct str){ p, (u32)n }));
        p += n;
    }
    lk_compile o = s->compile ? *s->compile : (lk_compile){ 0 };
    u32 own = flag.n;
    for (u32 i = 0; i < o.flags; i++) VEC_PUSH(&mem, &flag, o.flag[i]);
    o.size = sizeof o;
    o.flag = flag.p;
    o.flags = flag.n;
    o.own = c->choices ? 0 : own;
    if (s->other_kernel) name = s->other_kernel;
    if (strchr(name, '<')) o.name = &name, o.names = 1;
    if (s->other) o.own = 0;
    lk_status status = lk_module_compile(s->gpu, s->other ? s->other : s->path, &o, module);
    if (status != LK_OK) {
        refused(s->gpu, status, e);
        snprintf(e->excerpt, sizeof e->excerpt, "%.390s", lk_gpu_log(s->gpu));
    }
    arena_free(&mem);
    return status == LK_OK;
}

static lk_module *module_of(struct lab_subject *s, const struct contract_case *c, struct error *e)
{
    for (u32 i = 0; i < s->builds; i++)
        if (case_same_choices(&s->build[i].with, c)) return s->build[i].module;
    bool full = s->builds == LAB_BUILDS;
    struct lab_build *b = &s->build[full ? s->oldest : s->builds];
    lk_module *made;
    if (!compile(s, c, &made, e)) return NULL;
    if (full) {
        lab_cover_forget(s->watch); /* it points into the code that goes */
        lk_module_unload(b->module);
        base_free(b->state);
        s->oldest = (s->oldest + 1) % LAB_BUILDS;
    }
    *b = (struct lab_build){ .module = made };
    if (!lab_state_take(s, b, e)) {
        lk_module_unload(made);
        return NULL;
    }
    keep_choices(s, c, &b->with);
    s->builds += !full;
    return made;
}

/* Reads the contract for the case; the kernel that it speaks of, NULL: e. */
static lk_kernel *open_case(struct lab_subject *s, const struct contract_case *c, struct error *e)
{
    struct text line = { 0 };
    if (!s->gpu && lk_gpu_create(&s->options, &s->gpu) != LK_OK) {
        error_set(e, ERR_SYSTEM, "%.500s", lk_gpu_error(NULL));
        return NULL;
    }
    lk_contract_free(s->contract);
    s->contract = NULL;
    lk_report_clear(s->gpu);
    case_print(c, &line);
    lk_status status = lk_contract_read_case(s->gpu, s->path, s->text.p, s->text.n, s->kernel, line.p, &s->contract);
    text_free(&line);
    lk_module *module = status == LK_OK ? module_of(s, c, e) : NULL;
    const char *name = s->other_kernel ? s->other_kernel : module ? lk_contract_kernel(s->contract, s->block) : NULL;
    lk_kernel *k = module ? lk_module_kernel(module, name) : NULL;
    if (!k && !e->code) refused(s->gpu, status, e);
    return k;
}

/* ---- arguments ---- */

struct lab_arg {
    lk_argument is;
    u64 address;       /* of its memory; 0: it has none */
    u64 pointer;       /* what the kernel gets */
    u8 value[64];      /* of what is no array */
    u8 *first, *after; /* its memory before and after the launch */
    u64 used;          /* bytes that are the array's, what lies before the first element included */
    u64 bytes;         /* of all three; on a real GPU there are some more after the array, which nobody may write */
};

static void poison(u8 *p, u64 bytes, u32 size)
{
    for (u64 i = 0; i + size <= bytes; i += size) memcpy(p + i, lab_poison + 8 - size, size);
}

/* What outputs hold before the launch. The software GPU goes on to take it for undefined. */
static bool poison_memory(struct lab_subject *s, const struct lab_arg *a, struct error *e)
{
    struct mem_object *o = s->gpu->device->options.gpu ? NULL : mem_find(s->gpu->device->mem, a->address);
    if (!o) {
        lk_status status = lk_memory_write(s->gpu, a->address, a->first, a->bytes);
        return status == LK_OK || refused(s->gpu, status, e);
    }
    memcpy((u8 *)(uintptr_t)(o->base + o->engine), a->first, a->bytes);
    return true;
}

/* The elements of an input of the same name, where each lies in this one. */
static void take_input(const struct lab_kept *from, const struct bound_arg *b, u8 *p)
{
    u32 size = b->arg->shape.type->bytes, i = 0;
    while (i < from->n && (!from->name[i] || strcmp(from->name[i], b->arg->name))) i++;
    if (i == from->n || from->input_type[i] != b->arg->shape.type) return;
    u64 count = 1;
    for (u32 d = 0; d < from->shape[i].rank; d++) count *= from->shape[i].dim[d];
    for (u64 k = 0; count == b->shape.count && k < count; k++) {
        u64 at = 0, rest = k;
        for (u32 d = b->arg->shape.rank; d-- > 0; rest /= b->shape.dim[d])
            at += rest % b->shape.dim[d] * b->shape.stride[d];
        memcpy(p + at * size, from->data[i].before + k * size, size);
    }
}

/* Memory for an array: its name and type stand in reports. */
static bool make_array(struct lab_subject *s, u32 i, struct lab_arg *a, const struct lab_how *how, struct error *e)
{
    const struct bound_arg *b = &s->contract->bound.arg[i];
    u32 size = b->arg->shape.type->bytes;
    char type[160];
    if (!a->is.bytes) return true; /* as cudaMalloc answers: a null pointer */
    a->used = a->is.bytes + a->is.offset * size;
    a->bytes = a->used + (s->gpu->device->options.gpu ? CANARY : 0);
    a->first = base_alloc(a->bytes);
    a->after = base_alloc(a->bytes);
    if (!a->first || !a->after) return error_set(e, ERR_MEMORY, "no memory for %s", a->is.name);
    poison(a->first, a->bytes, size);
    contract_type_text(b, type, sizeof type);
    lk_status status = lk_memory_alloc(s->gpu, a->bytes, LK_MEMORY_DEVICE, a->is.name, &a->address);
    if (status != LK_OK) return refused(s->gpu, status, e);
    if (!a->is.offset) lk_memory_describe(s->gpu, a->address, a->is.name, type, size);
    a->pointer = a->address + a->is.offset * size;
    if (!a->is.filled) return poison_memory(s, a, e);
    status = lk_contract_fill(s->contract, i, 0, a->first + a->is.offset * size);
    if (status == LK_OK && how->edit && b->shape.count * size == a->is.bytes)
        how->edit(how->edit_self, b, a->first + a->is.offset * size);
    if (status == LK_OK && how->inputs) take_input(how->inputs, b, a->first + a->is.offset * size);
    if (status == LK_OK) status = lk_memory_write(s->gpu, a->address, a->first, a->bytes);
    return status == LK_OK || refused(s->gpu, status, e);
}

static bool make_arg(struct lab_subject *s, struct lab_arg *all, u32 i, const struct lab_how *how, struct error *e)
{
    struct lab_arg *a = &all[i];
    if (a->is.kind != LK_ARGUMENT_BUFFER) {
        if (a->is.bytes > sizeof a->value)
            return error_set(e, ERR_UNSUPPORTED, "%s has %" PRIu64 " bytes, and lockstep test passes at most %zu",
                             a->is.name, a->is.bytes, sizeof a->value);
        lk_status status = lk_contract_fill(s->contract, i, 0, a->value);
        return status == LK_OK || refused(s->gpu, status, e);
    }
    if (a->is.same < 0) return make_array(s, i, a, how, e);
    a->pointer = all[a->is.same].pointer;
    return true;
}

/* Elements in the order of the shape, one after the other. */
static u8 *dense(struct arena *mem, const struct bound_arg *b, const u8 *from)
{
    const struct bound_shape *s = &b->shape;
    u32 size = b->arg->shape.type->bytes, rank = b->arg->shape.rank;
    u8 *to = arena_alloc(mem, s->count * size + 1, 16);
    if (!from) return to;
    from += s->offset * size;
    u64 run = 1; /* elements that lie together */
    u32 outer = rank;
    while (outer > 0 && (s->stride[outer - 1] == run || s->dim[outer - 1] == 1)) run *= s->dim[--outer];
    for (u64 i = 0; run && i < s->count; i += run) {
        u64 at = 0, rest = i / run;
        for (u32 d = outer; d-- > 0; rest /= s->dim[d]) at += rest % s->dim[d] * s->stride[d];
        memcpy(to + i * size, from + at * size, run * size);
    }
    return to;
}

/* ---- the launch ---- */

void lab_found(struct lab_subject *s, enum finding_kind kind, const char *at, u64 key, const char *cause,
               const char *detail)
{
    struct place p;
    contract_place(&s->contract->read, at, &p);
    struct finding f = { .kind = kind,
                         .place = &p,
                         .kernel = s->contract->kernel->plain,
                         .cause_key = key,
                         .cause = cause,
                         .detail = detail && detail[0] ? detail : NULL };
    report_add(s->gpu->device->report, &f);
}

/* An input whose bytes have changed, and no store to it was seen: a real GPU sees none. */
static void input_changed(struct lab_subject *s, u32 i, const struct lab_arg *a)
{
    const struct bound_arg *b = &s->contract->bound.arg[i];
    char cause[300];
    u64 at = 0;
    while (a->first[at] == a->after[at]) at++;
    snprintf(cause, sizeof cause,
             "%s is `in`, and element [%" PRIu64 "] of its memory holds other bytes after the launch", a->is.name,
             at / b->arg->shape.type->bytes);
    lab_found(s, F_input_written, b->arg->at, i, cause, NULL);
}

static bool read_back(struct lab_subject *s, struct lab_arg *all, u32 n, struct error *e)
{
    for (u32 i = 0; i < n; i++) {
        struct lab_arg *a = &all[i];
        if (!a->address) continue;
        lk_status status = lk_memory_read(s->gpu, a->address, a->after, a->bytes);
        if (status != LK_OK) return refused(s->gpu, status, e);
        if (memcmp(a->first + a->used, a->after + a->used, a->bytes - a->used) && !lk_report_errors(s->gpu)) {
            char cause[200];
            snprintf(cause, sizeof cause, "bytes just after %s have changed: the kernel writes past its end",
                     a->is.name);
            lab_found(s, F_bounds, s->contract->bound.arg[i].arg->at, i, cause, NULL);
        }
        bool shared = false; /* an input whose memory an output shares may change */
        for (u32 k = 0; k < n; k++) shared |= all[k].is.kind == LK_ARGUMENT_BUFFER && all[k].is.same == (s32)i;
        if (a->is.flow == LK_FLOW_IN && a->is.filled && !shared && memcmp(a->first, a->after, a->used) &&
            !lk_report_errors(s->gpu))
            input_changed(s, i, a);
    }
    return true;
}

/* A launch that has spent its budget is too large for a case; without one it is a livelock. */
static void budget_spent(struct lab_subject *s, const struct lab_how *how, struct lab_outcome *out)
{
    struct report_brief b;
    if (!how->budget || !report_first(s->gpu->device->report, &b) || b.kind != F_livelock) return;
    lk_report_clear(s->gpu);
    out->end = LAB_LARGE;
    out->spent = true;
}

static bool launch(struct lab_subject *s, lk_kernel *k, const struct contract_case *c, struct lab_arg *all, u32 n,
                   const struct lab_how *how, struct lab_outcome *out, struct error *e)
{
    const void *arg[CONTRACT_ARGS];
    lk_launch l = { .size = sizeof l, .args = arg, .arg_count = n, .contract = s->contract, .order = c->order };
    l.as_given = true;
    for (u32 i = 0; i < n; i++)
        arg[i] = all[i].is.kind == LK_ARGUMENT_BUFFER ? (const void *)&all[i].pointer : all[i].value;
    lk_contract_shape(s->contract, &l);
    if (!l.grid[0] || !l.block[0])
        return error_set(e, ERR_INPUT, "%s: the contract of %s has no launch line with grid= and block=", s->path,
                         s->kernel);
    s->gpu->device->options.budget = how->budget ? how->budget : s->budget ? s->budget : BUDGET_MOST;
    if (how->record && lk_record(k, &l, how->record) != LK_OK) return refused(s->gpu, LK_BAD_INPUT, e);
    if (!s->watch && !s->gpu->device->options.gpu) s->watch = lab_cover_new(s->other ? s->other : s->path);
    if (s->watch && !how->launch) s->gpu->device->watch = lab_cover_observer(s->watch, &out->cover);
    lk_status status = lk_kernel_launch(k, &l, NULL);
    s->gpu->device->watch = NULL;
    budget_spent(s, how, out);
    if (status == LK_UNSUPPORTED) {
        out->end = LAB_LATER;
        snprintf(out->why, sizeof out->why, "%.390s", lk_gpu_error(s->gpu));
        return true;
    }
    return status == LK_OK || status == LK_FINDINGS || lk_report_errors(s->gpu) || refused(s->gpu, status, e);
}

/* What failed, in a word that stays the same when the case gets smaller. */
static void conclude(struct lab_subject *s, struct lab_outcome *out)
{
    struct report_brief b;
    if (out->end != LAB_PASSED || !report_first(s->gpu->device->report, &b)) return;
    out->end = LAB_FAILED;
    if (!out->first[0]) snprintf(out->first, sizeof out->first, "%s:%u", finding_id(b.kind), b.line);
}

void lab_kept_free(struct lab_kept *k)
{
    arena_free(&k->mem);
    *k = (struct lab_kept){ 0 };
}

static void keep_input(const struct bound_arg *b, const u8 *before, u64 bytes, struct lab_kept *to, u32 i)
{
    to->name[i] = arena_str(&to->mem, str_of(b->arg->name));
    to->shape[i].rank = b->arg->shape.rank;
    memcpy(to->shape[i].dim, b->shape.dim, sizeof to->shape[i].dim);
    if (b->arg->flow == FLOW_OUT) return;
    to->input_type[i] = b->arg->shape.type;
    to->data[i].before = arena_alloc(&to->mem, bytes + 1, 16);
    memcpy(to->data[i].before, before, bytes);
}

/* Arrays, for those who compare runs; and the hash of the outputs. */
static void keep(const struct lab_subject *s, const struct lab_data *data, struct lab_kept *to, u64 *hash)
{
    const struct bound *b = &s->contract->bound;
    u32 n = b->kernel->args.n;
    *hash = 0;
    if (to) {
        lab_kept_free(to);
        to->n = n;
        to->data = NEW_ARRAY(&to->mem, struct lab_data, n + 1);
        to->shape = NEW_ARRAY(&to->mem, struct oracle_shape, n + 1);
        to->type = NEW_ARRAY(&to->mem, const struct scalar *, n + 1);
        to->input_type = NEW_ARRAY(&to->mem, const struct scalar *, n + 1);
        to->name = NEW_ARRAY(&to->mem, const char *, n + 1);
    }
    for (u32 i = 0; i < n; i++) {
        const struct contract_arg *g = b->arg[i].arg;
        if (g->kind != CONTRACT_BUFFER || !data[i].after) continue;
        u64 bytes = b->arg[i].shape.count * g->shape.type->bytes;
        if (to) keep_input(&b->arg[i], data[i].before, bytes, to, i);
        if (g->flow == FLOW_IN) continue;
        *hash = *hash * 0x9e3779b97f4a7c15u + str_hash((struct str){ (const char *)data[i].after, (u32)bytes });
        if (!to) continue;
        to->type[i] = g->shape.type;
        to->data[i].after = arena_alloc(&to->mem, bytes + 1, 16);
        memcpy(to->data[i].after, data[i].after, bytes);
    }
}

/* What is known to be wrong is not held against the oracle; but a NaN may be what the oracle wants. */
static bool is_judged(struct lab_subject *s, const struct lab_outcome *out)
{
    struct report_brief b;
    return out->end == LAB_PASSED && (!report_first(s->gpu->device->report, &b) || b.kind == F_value_nan);
}

/* Whether the contents are such as the contract assumes. */
static bool is_assumed(struct lab_subject *s, const struct lab_arg *all, bool *holds, struct error *e)
{
    struct arena mem = { 0 };
    u32 n = s->contract->bound.kernel->args.n;
    struct lab_data *data = NEW_ARRAY(&mem, struct lab_data, n + 1);
    for (u32 i = 0; i < n; i++)
        if (all[i].is.kind == LK_ARGUMENT_BUFFER)
            data[i].before = dense(&mem, &s->contract->bound.arg[i],
                                   all[i].is.same >= 0 ? all[all[i].is.same].first : all[i].first);
    bool ok = lab_assumed(s, data, holds, e);
    arena_free(&mem);
    return ok;
}

/* One launch, from what memory holds, and its judgement. */
static bool launch_once(struct lab_subject *s, const struct contract_case *c, lk_kernel *k, struct lab_arg *all,
                        const struct lab_how *how, struct lab_outcome *out, struct error *e)
{
    u32 n = s->contract->bound.kernel->args.n;
    if (!launch(s, k, c, all, n, how, out, e)) return false;
    struct arena mem = { 0 };
    bool whole = is_judged(s, out), ok = !whole || read_back(s, all, n, e);
    struct lab_data *data = NEW_ARRAY(&mem, struct lab_data, n + 1);
    for (u32 i = 0; ok && whole && i < n; i++) {
        if (all[i].is.kind != LK_ARGUMENT_BUFFER) continue;
        const struct lab_arg *a = all[i].is.same >= 0 ? &all[all[i].is.same] : &all[i];
        data[i].before = dense(&mem, &s->contract->bound.arg[i], a->first);
        data[i].after = dense(&mem, &s->contract->bound.arg[i], a->after);
        const struct bound_arg *b = &s->contract->bound.arg[i];
        u64 offset = b->shape.offset * b->arg->shape.type->bytes, bytes = b->shape.count * b->arg->shape.type->bytes;
        bool there = a->first && a->is.filled && offset + bytes <= a->used;
        if (there && memcmp(data[i].before, a->first + offset, bytes)) data[i].flat = a->first + offset;
    }
    if (ok && whole) keep(s, data, how->keep, &out->hash);
    if (ok && whole && !how->plain) ok = lab_judge(s, c, data, how, out, e);
    arena_free(&mem);
    return ok;
}

/* The module of the case, which is open. */
static const struct lab_build *build_of(const struct lab_subject *s, const struct contract_case *c)
{
    u32 i = 0;
    while (i + 1 < s->builds && !case_same_choices(&s->build[i].with, c)) i++;
    return &s->build[i];
}

/* How many launches follow each other: as the contract says; else a second one where the kernel has an oracle and no
 * array of it is inout, and the sizes are the usual ones or its module has variables. It must not find what the first
 * has left. */
static u32 launches_of(const struct lab_subject *s, const struct contract_case *c, const struct lab_how *how)
{
    const struct contract_kernel *k = s->contract->bound.kernel;
    bool forward, state = false;
    if (how->plain || how->edit || how->inputs || how->record) return 1;
    if (k->launches) return k->launches;
    for (u32 i = 0; i < k->args.n; i++)
        state |= k->args.p[i].kind == CONTRACT_BUFFER && k->args.p[i].flow == FLOW_INOUT;
    return !state && (!c->dims || build_of(s, c)->state) && lab_judges(s) &&
                   lab_oracles(&s->contract->read, k, &forward)
               ? 2
               : 1;
}

static bool run_args(struct lab_subject *s, const struct contract_case *c, lk_kernel *k, struct lab_arg *all,
                     const struct lab_how *how, struct lab_outcome *out, struct error *e)
{
    struct lab_how now = *how;
    bool holds = true;
    u32 n = s->contract->bound.kernel->args.n, launches = launches_of(s, c, how);
    if (!lab_state_put(s, build_of(s, c), e)) return false;
    for (u32 i = 0; i < n; i++)
        if (!make_arg(s, all, i, how, e)) return false;
    if (!is_assumed(s, all, &holds, e)) return false;
    if (!holds) {
        out->end = LAB_DISCARDED;
        return true;
    }
    for (now.launch = 0; now.launch < launches; now.launch++) {
        struct report_brief first;
        u64 hash = out->hash, elements = out->elements, overflow = out->overflow, ill = out->ill;
        if (!launch_once(s, c, k, all, &now, out, e)) return false;
        if (now.launch) { /* what is told of the case is that of the first one */
            out->hash = hash;
            out->elements = elements;
            out->overflow = overflow;
            out->ill = ill;
        }
        now.keep = NULL;
        if (out->end != LAB_PASSED || report_first(s->gpu->device->report, &first)) return true;
        for (u32 i = 0; i < n && now.launch + 1 < launches; i++) /* the next one begins with what this one left */
            if (all[i].first && all[i].after) memcpy(all[i].first, all[i].after, all[i].bytes);
    }
    return true;
}

static void note_sizes(const struct lab_subject *s, struct lab_outcome *out)
{
    const struct bound *b = &s->contract->bound;
    out->dims = b->kernel->dims.n;
    for (u32 i = 0; i < out->dims; i++) out->dim[i] = b->value[i].i;
}

static void drop(struct lab_subject *s, struct lab_arg *all, u32 n)
{
    for (u32 i = 0; i < n; i++) {
        if (all[i].address) lk_memory_free(s->gpu, all[i].address);
        base_free(all[i].first);
        base_free(all[i].after);
    }
    base_free(all);
}

static double warps_of(const struct lab_subject *s)
{
    lk_launch l = { .size = sizeof l };
    double blocks = 1, threads = 1;
    lk_contract_shape(s->contract, &l);
    for (u32 i = 0; i < 3; i++) blocks *= l.grid[i], threads *= l.block[i];
    return blocks * ceil(threads / 32);
}

/* Opens the case and binds its contract. NULL: it is refused (out->end), or e. */
static lk_kernel *bind_case(struct lab_subject *s, const struct contract_case *c, struct lab_outcome *out,
                            struct error *e)
{
    *out = (struct lab_outcome){ 0 };
    lk_kernel *k = open_case(s, c, e);
    lk_status status = k ? lk_contract_bind(s->contract, k, NULL, 0) : LK_OK;
    if (status == LK_OK) return k;
    out->end = LAB_REFUSED;
    snprintf(out->why, sizeof out->why, "%.390s", lk_gpu_error(s->gpu));
    if (!c->dims && !c->layouts) refused(s->gpu, status, e); /* the usual case must be one */
    return NULL;
}

/* Instructions per warp, measured on the usual case, so that each process gets the same number. */
static void rate(struct lab_subject *s, u64 budget)
{
    struct lab_outcome *o = base_alloc(sizeof *o);
    struct lab_how how = { .plain = true, .budget = budget };
    struct error ignored = { 0 };
    s->rated = true;
    bool ran = o && lab_run(s, &(struct contract_case){ 0 }, &how, o, &ignored);
    double warps = ran && (o->end == LAB_PASSED || o->end == LAB_FAILED) ? warps_of(s) : 0;
    if (warps > 0) s->rate = (double)o->cover.steps / warps;
    base_free(o);
}

/* Whether an eighth of what the launch is expected to take is more than the budget: known before it is launched. */
static bool is_too_long(const struct lab_subject *s, const struct lab_how *how)
{
    return how->budget && s->rate > 0 && s->rate * warps_of(s) / 8 > (double)how->budget;
}

bool lab_run(struct lab_subject *s, const struct contract_case *c, const struct lab_how *how, struct lab_outcome *out,
             struct error *e)
{
    lk_kernel *k = bind_case(s, c, out, e);
    if (k && how->budget && !s->rated && !how->plain && warps_of(s) > WARPS_FEW) {
        rate(s, how->budget);
        k = bind_case(s, c, out, e);
    }
    if (!k) return !e->code;
    u32 n = lk_contract_argument_count(s->contract);
    note_sizes(s, out);
    u64 bytes = 0;
    struct lab_arg *all = base_alloc((n + 1) * sizeof *all);
    if (!all) return error_set(e, ERR_MEMORY, "no memory for %u arguments", n);
    for (u32 i = 0; i < n; i++) {
        lk_contract_argument(s->contract, i, &all[i].is);
        bytes += all[i].is.kind == LK_ARGUMENT_BUFFER ? all[i].is.bytes : 0;
    }
    bool ok = how->plain || bytes > BYTES_MOST || lab_cost(s, &out->cost, e);
    bool large = bytes > BYTES_MOST || out->cost > (how->cost_most > 0 ? how->cost_most : COST_MOST);
    large |= !how->plain && is_too_long(s, how);
    out->end = large ? LAB_LARGE : lk_contract_is_empty(s->contract) ? LAB_EMPTY : LAB_PASSED;
    ok = ok && (out->end != LAB_PASSED || run_args(s, c, k, all, how, out, e));
    if (ok) conclude(s, out);
    drop(s, all, n);
    return ok;
}

bool lab_run_repeated(struct lab_subject *s, const struct contract_case *c, const struct lab_how *how,
                      struct lab_outcome *out, struct error *e)
{
    struct lab_outcome now, failed = { 0 };
    u32 fails = 0, runs = how->repeat ? how->repeat : 1;
    if (!lab_run(s, c, how, out, e)) return false;
    if (out->end != LAB_PASSED && out->end != LAB_FAILED) return true;
    for (u32 i = 0; i < runs; i++) {
        struct contract_case again = *c;
        again.order = c->order + i; /* a real GPU has its own */
        if (i && !lab_run(s, &again, how, &now, e)) return false;
        if (!i) now = *out;
        if (now.end == LAB_FAILED && !fails++) failed = now;
    }
    if (fails) *out = failed;
    out->runs = runs;
    out->fails = fails;
    if (!fails || fails == runs) return true;
    char cause[300];
    snprintf(cause, sizeof cause, "%u of %u runs of the same case fail (%.60s), the others do not", fails, runs,
             failed.first);
    lk_report_clear(s->gpu);
    lab_found(s, F_intermittent, s->contract->bound.kernel->at, 0, cause, NULL);
    out->end = LAB_FAILED;
    snprintf(out->first, sizeof out->first, "intermittent");
    return true;
}
