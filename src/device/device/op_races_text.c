/* Findings between operations, in words: who, what they have in common, and the event or the wait that is missing. */
#include "sites/where.h"
#include "device/op_races_in.h"
#include "mem/mem_finding.h"
#include "units/condition.h"
#include <inttypes.h>

struct side { /* one of the two, for the text */
    const struct actor *a;
    enum access_kind kind;
    char name[200];           /* "copy 2", "launch 1 of kernel scale" */
    char stream[STREAM_TEXT]; /* "stream 1" */
    char handle[24];          /* how a program may call it: "s1" */
    bool unmaps;              /* what it frees are reserved addresses */
    char brief[200];          /* the name without what is said already: "copy 2", "the launch of scale" */
};

/* ---- names ---- */

static void name_stream(struct side *s)
{
    const struct actor *a = s->a;
    if (a->host) return;
    stream_label(a->stream, a->stream_id, s->stream);
    char name[sizeof s->handle - 1] = ""; /* one character may come before it */
    int end = 0;
    if (sscanf(s->stream, "stream %22[A-Za-z0-9_]%n", name, &end) == 1 && !s->stream[end])
        snprintf(s->handle, sizeof s->handle, "%s%s", name[0] <= '9' ? "s" : "", name);
    else if (a->stream_id == 1)
        snprintf(s->handle, sizeof s->handle, "0");
}

static const char *kind_text(enum op_kind k)
{
    static const char *const text[OP_KINDS] = { [OP_LAUNCH] = "a launch",
                                                [OP_COPY] = "a copy",
                                                [OP_FILL] = "a fill",
                                                [OP_ALLOC] = "an allocation",
                                                [OP_FREE] = "a free",
                                                [OP_HOST] = "a host function",
                                                [OP_LIBRARY] = "an operator",
                                                [OP_VALUE_WRITE] = "a written value",
                                                [OP_BRANCH] = "a conditional node" };
    return text[k] ? text[k] : "an operation";
}

static void name_side(struct side *s)
{
    const struct actor *a = s->a;
    char kernel[120] = "";
    name_stream(s);
    if (a->host && a->site && !strncmp(a->site, "at ", 3)) { /* a load or store of its own, and where that is */
        snprintf(s->brief, sizeof s->brief, "the access of the host %s", a->site);
        snprintf(s->name, sizeof s->name, "the host %s", a->site);
        return;
    }
    if (a->host) {
        snprintf(s->brief, sizeof s->brief, "%s", a->site ? a->site : "the access of the host");
        snprintf(s->name, sizeof s->name, "the host%s%s%s", a->site ? ", in " : "", a->site ? a->site : "",
                 a->site ? "," : "");
        return;
    }
    if (a->kernel) name_plain(str_of(a->kernel), kernel, sizeof kernel);
    const char *what = a->site ? a->site : kind_text(a->kind), *word = strchr(what, ' ');
    if (a->site)
        snprintf(s->brief, sizeof s->brief, "%s", a->site);
    else if (a->kernel)
        snprintf(s->brief, sizeof s->brief, "the launch of %s", kernel);
    else
        snprintf(s->brief, sizeof s->brief, "the%s", word ? word : " operation");
    if (a->kernel)
        snprintf(s->name, sizeof s->name, "%s (kernel %s)", what, kernel);
    else
        snprintf(s->name, sizeof s->name, "%s", what);
}

static struct side side_of(const struct actor *a, enum access_kind kind)
{
    struct side s = { .a = a, .kind = kind };
    name_side(&s);
    return s;
}

static const char *verb(const struct side *s)
{
    static const char *const text[] = { "reads", "writes", "allocates", "frees" };
    return s->kind == ACCESS_FREE && s->unmaps ? "unmaps" : text[s->kind];
}

/* As struct finding has it. */
static const char *access_word(const struct side *s) { return s->kind == ACCESS_READ ? "read" : "write"; }

/* The name for a sentence that says what to do. */
static const char *brief(const struct side *s) { return s->brief; }

/* "cu" for a program of the driver interface, "cuda" for one of the runtime's: names of calls begin with it. */
static const char *api(const struct side *s)
{
    const char *call = where_called(s->a->site);
    return call && !strncmp(call, "cu", 2) && call[2] >= 'A' && call[2] <= 'Z' ? "cu" : "cuda";
}

/* "Record an event after ... before ...", with the calls. */
static void event_text(struct text *fix, const struct side *first, const struct side *second)
{
    bool known = first->handle[0] && second->handle[0];
    if (op_races_has_tensors()) {
        text_add(fix, "Let %s wait for %s after %s and before %s: second.wait_stream(first), of torch.cuda.Stream.",
                 second->stream, first->stream, brief(first), brief(second));
        return;
    }
    text_add(fix,
             "Record an event after %s in %s, and let %s wait for it before %s: %sEventRecord(e, %s); "
             "%sStreamWaitEvent(%s, e%s).",
             brief(first), first->stream, second->stream, brief(second), api(first), known ? first->handle : "s1",
             api(second), known ? second->handle : "s2", strcmp(api(second), "cu") ? "" : ", 0");
}

/* ---- what they have in common ---- */

static u64 element_of(const struct mem_object *o) { return o && o->element_size ? o->element_size : 1; }

/* They have one element in common, or one byte. */
static bool is_one(const struct clash *c, const struct mem_object *o)
{
    u64 base = o ? o->base : 0;
    if (!o && condition_at(c->from)) return true;
    return (c->from - base) / element_of(o) == (c->to - 1 - base) / element_of(o);
}

static void common_text(struct text *t, const struct clash *c, const struct mem_object *o)
{
    if (!o && condition_at(c->from)) {
        text_add(t, "the condition of a conditional node");
        return;
    }
    if (!o) {
        text_add(t, "%" PRIu64 " byte%s of host memory from 0x%" PRIx64 " on", c->bytes, plural(c->bytes), c->from);
        return;
    }
    u64 size = element_of(o), first = (c->from - o->base) / size, last = (c->to - 1 - o->base) / size;
    const char *what = o->element_size ? "element" : "byte";
    if (is_one(c, o))
        text_add(t, "%s [%" PRIu64 "] of %s", what, first, o->name);
    else if (c->elements >= last - first + 1)
        text_add(t, "%ss [%" PRIu64 "..%" PRIu64 "] of %s", what, first, last, o->name);
    else
        text_add(t, "%" PRIu64 " of the %ss [%" PRIu64 "..%" PRIu64 "] of %s", c->elements, what, first, last, o->name);
    if (o->type) text_add(t, " (%s)", o->type);
    if (c->other_objects) text_add(t, " and of other memory");
}

/* "launch 1 (kernel scale) in stream 2", "launch 1 (kernel scale) of a graph in stream 2", or the host. */
static void who_text(struct text *t, const struct side *s)
{
    text_add(t, "%s", s->name);
    if (!s->a->host) text_add(t, s->a->node ? " of a graph in %s" : " in %s", s->stream);
}

/* ---- findings ---- */

static enum finding_kind kind_of(const struct clash *c, const struct side *first, const struct side *second,
                                 const struct mem_object *o)
{
    const struct actor *op = first->a->host ? second->a : first->a;
    if (c->verdict == ACCESS_BEFORE_ALLOC)
        return first->kind == ACCESS_FREE || second->kind == ACCESS_FREE ? F_use_after_free_stream : F_use_before_alloc;
    if (c->verdict == ACCESS_AFTER_FREE && (first->a->host || second->a->host))
        return first->unmaps || second->unmaps ? F_unmap_pending : F_use_after_free;
    if (c->verdict == ACCESS_AFTER_FREE) return F_use_after_free_stream;
    if (!first->a->host && !second->a->host) return F_race_stream;
    if (op->kind == OP_COPY || op->kind == OP_FILL) return F_copy_pending;
    return o && o->kind == MEM_MANAGED ? F_managed_touched : F_race_stream;
}

/* They are nodes of one launch of a graph. */
static bool in_one_graph(const struct side *first, const struct side *second)
{
    return first->a->node && second->a->node && first->a->age == second->a->age;
}

static void edge_text(struct text *order, struct text *fix, const struct side *first, const struct side *second)
{
    text_add(order, "an edge of the graph from %s to %s", brief(first), brief(second));
    text_add(fix,
             "Add an edge from %s to %s to the graph (%sGraphAddDependencies); in a capture, let the stream of the "
             "second one wait for an event that is recorded after the first one.",
             brief(first), brief(second), api(first));
}

static void missing_event(struct text *cause, struct text *order, struct text *fix, const struct side *first,
                          const struct side *second)
{
    bool overlap = first->a->stream_id == second->a->stream_id && second->a->overlaps;
    bool one_graph = in_one_graph(first, second);
    text_add(cause, one_graph
                        ? "; both are of one launch of the graph, and no path of its edges leads from one to the other"
                    : overlap ? "; the later one may start before the earlier one has ended, and did not wait for it"
                              : "; no stream order, event, graph edge or waiting call says which comes first");
    if (one_graph) {
        edge_text(order, fix, first, second);
        return;
    }
    if (overlap) {
        text_add(order, "griddepcontrol.wait (cudaGridDependencySynchronize) in the later kernel before the access");
        text_add(fix,
                 "Call cudaGridDependencySynchronize() in the later kernel before it touches the memory, or launch it "
                 "without the programmatic attribute.");
        return;
    }
    text_add(order, "an event, recorded in %s after %s, that %s waits for before %s", first->stream, brief(first),
             second->stream, brief(second));
    event_text(fix, first, second);
    text_add(fix, " Or enqueue both in one stream.");
}

static void missing_wait(struct text *cause, struct text *order, struct text *fix, const struct side *op)
{
    text_add(cause, "; the host had not waited for %s", brief(op));
    text_add(order, "a call that waits for %s before the host touches the memory", op->stream);
    text_add(
        fix,
        "Call %sStreamSynchronize for %s, or %sEventSynchronize for an event that is recorded after %s, before the "
        "host touches the memory.",
        api(op), op->stream, api(op), brief(op));
}

static bool tensors; /* atomic */

void op_races_tensors(void) { __atomic_store_n(&tensors, true, __ATOMIC_RELEASE); }
bool op_races_has_tensors(void) { return __atomic_load_n(&tensors, __ATOMIC_ACQUIRE); }

/* The host frees the memory itself, `life`, and has not waited for what uses it. */
static void missing_host_wait(struct text *cause, struct text *order, struct text *fix, const struct side *use,
                              const struct side *life)
{
    text_add(cause, "; the host had not waited for %s", brief(use));
    text_add(order, "a call that waits for %s before the host %s the memory", use->stream, verb(life));
    if (life->unmaps) {
        text_add(fix, "Call %sStreamSynchronize for %s before cuMemUnmap.", api(use), use->stream);
        return;
    }
    text_add(cause, ", and a free of a pool's memory waits for nothing");
    text_add(fix, "Call %sStreamSynchronize for %s before the free, or free it in that stream, with %s.", api(use),
             use->stream, strcmp(api(use), "cu") ? "cudaFreeAsync" : "cuMemFreeAsync");
}

/* `life` is the side that allocates or frees, `use` the other one. */
static void missing_life(struct text *cause, struct text *order, struct text *fix, enum access_verdict v,
                         const struct side *use, const struct side *life)
{
    bool alloc = v == ACCESS_BEFORE_ALLOC, same = use->a->stream_id == life->a->stream_id;
    const struct side *first = alloc ? life : use, *second = alloc ? use : life;
    if (life->a->host) {
        missing_host_wait(cause, order, fix, use, life);
        return;
    }
    if (use->a->host) return;
    if (alloc && use->kind == ACCESS_FREE && !same) { /* what uses the memory follows the allocation, as a rule */
        text_add(cause, "; nothing orders the free after the allocation and the uses after that");
        text_add(order, "an event, recorded in %s after the last use, that %s waits for before %s", life->stream,
                 use->stream, brief(use));
        bool known = life->handle[0] && use->handle[0];
        text_add(fix,
                 "Record an event after the last use in %s, and let %s wait for it before %s: %sEventRecord(e, %s); "
                 "%sStreamWaitEvent(%s, e%s).",
                 life->stream, use->stream, brief(use), api(life), known ? life->handle : "s1", api(use),
                 known ? use->handle : "s2", strcmp(api(use), "cu") ? "" : ", 0");
        return;
    }
    if (same) {
        text_add(cause, alloc ? ", and comes before it" : ", and comes after it");
        text_add(fix, "Enqueue %s before %s.", brief(first), brief(second));
        return;
    }
    text_add(cause,
             alloc ? "; nothing orders the use after the allocation" : "; nothing orders the use before the free");
    text_add(order, "an event, recorded in %s after %s, that %s waits for before %s", first->stream, brief(first),
             second->stream, brief(second));
    if (!alloc && op_races_has_tensors())
        text_add(fix, "Call record_stream(stream) of the tensor before it goes, with the stream that uses it: PyTorch "
                      "frees in the order of the stream that it was made in. Or let that stream wait "
                      "(wait_stream) for the one that uses it.");
    else
        event_text(fix, first, second);
}

static void say(const struct clash *c, const struct side *first, const struct side *second, const struct mem_object *o,
                struct text *cause, struct text *order, struct text *fix)
{
    who_text(cause, first);
    text_add(cause, " %s ", verb(first));
    common_text(cause, c, o);
    text_add(cause, ", ");
    who_text(cause, second);
    text_add(cause, " %s %s%s", verb(second), is_one(c, o) ? "it" : "them", first->kind == second->kind ? ", too" : "");
    if (c->verdict != ACCESS_RACE) {
        bool life = first->kind == ACCESS_ALLOC || first->kind == ACCESS_FREE;
        missing_life(cause, order, fix, c->verdict, life ? second : first, life ? first : second);
    } else if (first->a->host || second->a->host)
        missing_wait(cause, order, fix, first->a->host ? second : first);
    else
        missing_event(cause, order, fix, first, second);
}

/* One finding for all times that the same two calls meet, in whatever streams; where nothing says which calls they are,
 * the streams tell them apart. */
static u64 key_of(const struct side *first, const struct side *second)
{
    bool known = first->a->site && second->a->site;
    u64 h = 0xcbf29ce484222325u; /* not the kind: its number changes when kinds are added, and the order of findings */
    const char *const text[] = { first->name, known ? first->a->node ? "node" : "" : first->stream, second->name,
                                 known ? second->a->node ? "node" : "" : second->stream };
    for (u32 i = 0; i < COUNT_OF(text); i++)
        for (const char *p = text[i]; *p; p++) h = (h ^ (u8)*p) * 0x100000001b3u;
    return h;
}

static void memory_text(struct text *t, const struct mem_object *o)
{
    if (!o) return;
    text_add(t, "%s, %" PRIu64 " bytes", o->name, o->size);
    if (o->alloc_site) text_add(t, ", allocated at %s", o->alloc_site);
    const char *freed = mem_is_live(o) ? NULL : __atomic_load_n(&o->free_site, __ATOMIC_ACQUIRE);
    if (freed) text_add(t, ", freed at %s", freed);
}

void op_races_order_text(struct arena *mem, struct finding *f, const struct user *one, enum access_kind one_does,
                         const struct user *two, enum access_kind two_does)
{
    struct side a = side_of(one->actor, one_does), b = side_of(two->actor, two_does);
    bool swap = two->actor->age < one->actor->age;
    const struct side *first = swap ? &b : &a, *second = swap ? &a : &b;
    const struct user *early = swap ? two : one, *late = swap ? one : two;
    struct text cause = { 0 }, order = { 0 }, fix = { 0 };
    text_add(&cause, "%s; nothing orders ", f->cause);
    who_text(&cause, first);
    text_add(&cause, ", which %s it, and ", verb(first));
    who_text(&cause, second);
    text_add(&cause, ", which %s it%s", verb(second), first->kind == second->kind ? ", too" : "");
    if (in_one_graph(first, second)) {
        edge_text(&order, &fix, first, second);
    } else {
        text_add(&order, "an event, recorded in %s after %s, that %s waits for before %s", first->stream, brief(first),
                 second->stream, brief(second));
        event_text(&fix, first, second);
    }
    f->cause = arena_str(mem, str_of(cause.p));
    f->order = arena_str(mem, str_of(order.p));
    f->fix = arena_printf(mem, "%s %s", f->fix, fix.p);
    f->place = early->place ? early->place : late->place;
    f->other = early->place && late->place != early->place ? late->place : NULL;
    const struct actor *launch = early->actor->kernel ? early->actor : late->actor;
    if (launch->kernel) f->kernel = arena_str(mem, str_of(launch->kernel));
    f->launch = launch->number;
    text_free(&cause);
    text_free(&order);
    text_free(&fix);
}

void op_races_report(struct device *d, const struct clash *c, const struct user *me, const struct user *other)
{
    const struct mem_object *o = c->base && d->mem ? mem_find(d->mem, c->base) : NULL;
    struct side mine = side_of(me->actor, c->my_kind), theirs = side_of(other->actor, c->other_kind);
    mine.unmaps = theirs.unmaps = o && o->kind == MEM_VIRTUAL;
    /* who was enqueued first was to come first; the host came after what it had enqueued */
    bool same = me->actor->age == other->actor->age,
         swap = me->actor->age < other->actor->age || (same && other->actor->host);
    if (same && me->actor->node && other->actor->node) { /* of one graph: who writes was to come before who reads */
        bool mixed = (c->my_kind == ACCESS_WRITE) != (c->other_kind == ACCESS_WRITE);
        swap = mixed ? c->my_kind == ACCESS_WRITE : me->actor->stamp < other->actor->stamp;
    }
    const struct side *first = swap ? &mine : &theirs, *second = swap ? &theirs : &mine;
    const struct user *one = swap ? me : other, *two = swap ? other : me;
    struct text cause = { 0 }, order = { 0 }, fix = { 0 }, memory = { 0 };
    struct finding f = { .kind = kind_of(c, first, second, o) };
    say(c, first, second, o, &cause, &order, &fix);
    memory_text(&memory, o);
    f.place = one->place ? one->place : two->place;
    f.other = one->place ? two->place : NULL;
    f.common_low = c->from;
    f.common_high = c->to;
    f.does = access_word(one->place ? first : second);
    f.other_does = access_word(second);
    const struct actor *launch = one->place || !two->actor->kernel ? one->actor : two->actor;
    f.kernel = launch->kernel;
    f.launch = launch->number;
    f.cause_key = key_of(first, second);
    f.streams = (u64)first->a->stream_id << 32 | (u32)second->a->stream_id;
    f.cause = cause.p;
    f.order = order.n ? order.p : NULL;
    f.fix = fix.n ? fix.p : NULL;
    f.object_note = memory.n ? memory.p : NULL;
    if (o) {
        finding_object(&f, o);
    }
    report_add(d->report, &f);
    text_free(&cause);
    text_free(&order);
    text_free(&fix);
    text_free(&memory);
}
