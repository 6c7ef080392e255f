/* The profile for machines. docs/reference/profile.md lists the keys; they are stable: new ones are added, none changes
 * its meaning. All numbers are integers. */
#include "count/advice.h"
#include "count/count_write.h"
#include "count/timeline.h"
#include "report/entry.h"
#include "report/excerpts.h"
#include "base/json.h"

/* A counter of counter.def: its key; "": that of the space; NULL: it is not written. */
static void counter_json(struct json *j, const char *key, const char *of_space, u64 n)
{
    if (key) json_number(j, *key ? key : of_space, n);
}

static void space_json(struct json *j, const char *key, const struct space_counts *c, enum count_space s)
{
    static const char *const unit[COUNT_SPACES] = { "sectors", "sectors", "wavefronts", "passes", "sectors" };
    if (!c->requests) return;
    struct json o = json_open(j, key, '{');
#define SPACE_COUNTER(field, key, text) counter_json(&o, key, unit[s], c->field);
#include "count/counter_rows.h"
    if (s == COUNT_SHARED) json_number(&o, "conflicts", c->units - c->parts);
    json_end(&o, '}');
}

static void spaces_json(struct json *j, const struct space_counts *const in[COUNT_ACCESSES])
{
    for (u32 s = 0; s < COUNT_SPACES; s++) {
        u64 requests = 0;
        for (u32 k = 0; k < COUNT_ACCESSES; k++) requests += in[k][s].requests;
        if (!requests) continue;
        struct json o = json_open(j, count_space_name[s], '{');
        for (u32 k = 0; k < COUNT_ACCESSES; k++) space_json(&o, count_access_name[k], &in[k][s], (enum count_space)s);
        json_end(&o, '}');
    }
}

static void bulk_json(struct json *j, const struct bulk *b)
{
    if (!b->copies) return;
    struct json o = json_open(j, "bulk", '{');
#define BULK_COUNTER(field, key, text) counter_json(&o, key, NULL, b->field);
#include "count/counter_rows.h"
    json_end(&o, '}');
}

static void operations_json(struct json *j, const u64 operations[OPS_TYPES])
{
    struct json o = json_open(j, "operations", '{');
    for (u32 t = 0; t < OPS_TYPES; t++)
        if (operations[t]) json_number(&o, operation_name[t], operations[t]);
    json_end(&o, '}');
}

static void sums_json(struct json *j, const struct count_sums *s)
{
    struct json o = json_open(j, "counts", '{');
#define SUMS_COUNTER(field, key, text) counter_json(&o, key, NULL, s->field);
#include "count/counter_rows.h"
    struct json f = json_open(&o, "footprint", '{');
#define FOOTPRINT_COUNTER(field, key, text) counter_json(&f, key, NULL, s->field);
#include "count/counter_rows.h"
    json_end(&f, '}');
    operations_json(&o, s->operations);
    const struct space_counts *in[COUNT_ACCESSES];
    for (u32 k = 0; k < COUNT_ACCESSES; k++) in[k] = s->access[k];
    spaces_json(&o, in);
    bulk_json(&o, &s->bulk);
    json_end(&o, '}');
}

static void conflict_json(struct json *j, const struct conflict *c)
{
    if (c->ways < 2) return;
    struct json o = json_open(j, "worst_conflict", '{');
    json_number(&o, "ways", c->ways);
    json_number(&o, "bank", c->bank);
    json_number(&o, "cta", c->cta);
    json_number(&o, "warp", c->warp);
    struct json l = json_open(&o, "lanes", '[');
    json_number(&l, NULL, c->lane[0]);
    json_number(&l, NULL, c->lane[1]);
    json_end(&l, ']');
    struct json a = json_open(&o, "addresses", '[');
    json_number(&a, NULL, c->addr[0]);
    json_number(&a, NULL, c->addr[1]);
    json_end(&a, ']');
    json_end(&o, '}');
}

static void access_json(struct json *j, const struct access_counts *const access[COUNT_ACCESSES])
{
    const struct space_counts *in[COUNT_ACCESSES];
    struct access_counts sum = { 0 };
    for (u32 k = 0; k < COUNT_ACCESSES; k++) {
        in[k] = access[k]->in;
        access_counts_add(&sum, access[k]);
    }
    spaces_json(j, in);
    if (sum.strided) {
        struct json o = json_open(j, "stride", '{');
        json_number(&o, "requests", sum.strided);
        json_signed(&o, "least", sum.stride_min);
        json_signed(&o, "most", sum.stride_max);
        json_end(&o, '}');
    }
    conflict_json(j, &sum.worst);
#define ACCESS_COUNTER(field, key, text) \
    if (sum.field) counter_json(j, key, NULL, sum.field);
#include "count/counter_rows.h"
    bulk_json(j, &sum.bulk);
}

static void branch_json(struct json *j, u64 times, const struct branch_counts *b)
{
    if (!times) return;
    struct json o = json_open(j, "branch", '{');
    json_number(&o, "times", times);
    json_number(&o, "divergent", b ? b->divergent : 0);
    if (b && b->divergent) {
        static const char *const side[] = { "jumped", "followed" };
        const u64 lanes[] = { b->jumped, b->followed };
        for (u32 s = 0; s < 2; s++) {
            struct json x = json_open(&o, side[s], '{');
            json_number(&x, "lanes", lanes[s]);
            json_number(&x, "warp_instructions", b->side[s]);
            json_number(&x, "thread_instructions", b->side_lanes[s]);
            json_end(&x, '}');
        }
    }
    json_end(&o, '}');
}

static void barrier_json(struct json *j, const struct barrier_counts *b)
{
    if (!b || !b->phases) return;
    struct json o = json_open(j, "barrier", '{');
#define BARRIER_COUNTER(field, key, text) counter_json(&o, key, NULL, b->field);
#include "count/counter_rows.h"
    json_end(&o, '}');
}

static void insn_json(struct json *j, const struct count_insn *i)
{
    static const struct access_counts none;
    struct json o = json_open(j, NULL, '{');
    json_text(&o, "ptx_file", i->place->ptx_file);
    json_number(&o, "ptx_line", i->place->ptx_line);
    json_text(&o, "ptx", i->place->ptx_text);
    json_number(&o, "times", i->times);
    json_number(&o, "lanes", i->lanes);
    if (i->off) json_number(&o, "lanes_off", i->off);
    if (i->operations) {
        u64 operations[OPS_TYPES] = { 0 };
        operations[i->type] = i->operations;
        operations_json(&o, operations);
    }
    const struct access_counts *access[COUNT_ACCESSES];
    for (u32 k = 0; k < COUNT_ACCESSES; k++) access[k] = i->access && i->kind == k ? i->access : &none;
    if (i->access) access_json(&o, access);
    if (i->is_branch) branch_json(&o, i->times, i->branch);
    barrier_json(&o, i->barrier);
    json_end(&o, '}');
}

static void line_json(struct json *j, const struct count_lines *all, const struct count_line *l)
{
    struct json o = json_open(j, NULL, '{');
    struct source s;
    source_open(l->place, &s);
    bool known = l->place->file && l->place->line;
    json_text(&o, "file", known ? l->place->file : NULL);
    json_number(&o, "line", known ? l->place->line : 0);
    json_text(&o, "function", l->place->function);
    if (s.line.p) {
        struct arena mem = { 0 };
        json_text(&o, "source", arena_str(&mem, s.line));
        arena_free(&mem);
    } else
        json_null(&o, "source");
    json_number(&o, "cost", l->cost);
    json_number(&o, "cost_permille", all->cost ? l->cost * 1000 / all->cost : 0);
    json_number(&o, "warp_instructions", l->times);
    json_number(&o, "thread_instructions", l->lanes);
    if (l->off) json_number(&o, "lanes_off", l->off);
    operations_json(&o, l->operations);
    const struct access_counts *access[COUNT_ACCESSES];
    for (u32 k = 0; k < COUNT_ACCESSES; k++) access[k] = &l->access[k];
    access_json(&o, access);
    branch_json(&o, l->branches, &l->branch);
    barrier_json(&o, &l->barrier);
    struct json i = json_open(&o, "instructions", '[');
    for (u32 k = 0; k < l->insns; k++) insn_json(&i, l->insn[k]);
    json_end(&i, ']');
    json_end(&o, '}');
}

static void limits_json(struct json *j, const struct card *card, const struct count_launch *l)
{
    struct count_limits x;
    count_limits(card, l, &x);
    struct json o = json_open(j, "occupancy", '{');
    json_number(&o, "ctas_per_sm", x.occupancy.ctas);
    json_number(&o, "warps_per_sm", x.occupancy.ctas * x.warps);
    json_number(&o, "warps_per_sm_most", card->warps_per_sm);
    json_number(&o, "permille", x.occupied);
    json_text(&o, "limit", occupancy_limit_name(x.occupancy.by));
    json_end(&o, '}');
    struct json w = json_open(j, "waves", '{');
    json_number(&w, "waves", x.waves);
    json_number(&w, "ctas_at_a_time", x.slots);
    json_number(&w, "ctas_of_last", x.last);
    json_number(&w, "idle_permille", x.idle);
    json_end(&w, '}');
    struct json p = json_open(j, "least_ps", '{');
    for (u32 k = 0; k < ROOFS; k++)
        if (x.ps[k]) json_number(&p, count_limit_name[k], x.ps[k]);
    json_end(&p, '}');
    json_text(j, "limit", x.least ? count_limit_name[x.by] : NULL);
    json_number(j, "floating_operations", x.operations);
    json_number(j, "footprint_bytes", x.bytes);
    json_number(j, "operations_per_1000_bytes", x.intensity_milli);
}

static void shape_json(struct json *j, const struct card *card, const struct count_launch *l)
{
    struct json o = json_open(j, NULL, '{');
    json_triple(&o, "grid", l->grid);
    json_triple(&o, "block", l->block);
    json_triple(&o, "cluster", l->cluster);
    json_number(&o, "shared_fixed_bytes", l->shared_fixed);
    json_number(&o, "shared_dynamic_bytes", l->shared_dynamic);
    json_number(&o, "launches", l->launches);
    json_number(&o, "ctas", l->ctas);
    json_number(&o, "threads", l->threads);
    if (l->more.registers)
        json_number(&o, "registers", l->more.registers);
    else
        json_null(&o, "registers");
    json_text(&o, "registers_by", l->more.assembled ? "ptxas" : l->more.registers ? "bound" : NULL);
    if (l->more.assembled) {
        json_number(&o, "stack_bytes", l->more.stack);
        json_number(&o, "spill_store_bytes", l->more.spill_stores);
        json_number(&o, "spill_load_bytes", l->more.spill_loads);
    }
    limits_json(&o, card, l);
    sums_json(&o, &l->sums);
    json_end(&o, '}');
}

static void advice_json(struct json *j, const struct advice *a)
{
    struct json o = json_open(j, NULL, '{');
    json_text(&o, "id", advice_id(a->kind));
    json_text(&o, "about", a->line ? "line" : a->launch ? "launch" : "operations");
    json_text(&o, "certainty", advice_certainty(a->kind));
    if (a->line) {
        json_text(&o, "file", a->line->place->line ? a->line->place->file : NULL);
        json_number(&o, "line", a->line->place->line);
    } else if (a->launch)
        json_number(&o, "shape", a->shape);
    if (a->op) json_text(&o, "site", a->op->site);
    json_number(&o, "weight_permille", a->weight);
    json_text(&o, "title", advice_title(a->kind));
    json_text(&o, "why", a->why);
    json_text(&o, "fix", advice_fix(a->kind));
    json_end(&o, '}');
}

static void kernel_json(struct json *j, const struct counts *c, const struct count_kernel *k, struct excerpts *x)
{
    struct count_lines lines;
    struct advices found;
    count_lines(c, k, &lines);
    advise(c, k, &lines, &found);
    struct json o = json_open(j, NULL, '{');
    json_text(&o, "name", k->name);
    json_text(&o, "plain", k->plain);
    json_number(&o, "launches", k->launches);
    struct json s = json_open(&o, "shapes", '[');
    for (const struct count_launch *l = k->launch; l; l = l->next) shape_json(&s, c->card, l);
    json_end(&s, ']');
    sums_json(&o, &k->sums);
    struct json l = json_open(&o, "lines", '[');
    for (u32 i = 0; i < lines.n; i++) {
        line_json(&l, &lines, &lines.line[i]);
        excerpts_add(x, lines.line[i].place);
    }
    json_end(&l, ']');
    struct json a = json_open(&o, "advice", '[');
    for (u32 i = 0; i < found.n; i++) advice_json(&a, &found.p[i]);
    json_end(&a, ']');
    json_end(&o, '}');
    arena_free(&found.mem);
    arena_free(&lines.mem);
}

static void card_json(struct json *j, const struct card *p)
{
    struct json o = json_open(j, "card", '{');
    json_text(&o, "name", p->name);
    json_text(&o, "title", p->title);
    json_number(&o, "sm", p->sm);
    json_number(&o, "sms", p->sms);
    json_number(&o, "cuda_cores", p->sms * p->cores_per_sm);
    json_number(&o, "tensor_cores", p->sms * p->tensor_cores_per_sm);
    json_number(&o, "warps_per_sm", p->warps_per_sm);
    json_number(&o, "clock_mhz", p->clock_mhz);
    json_number(&o, "memory_gbs", p->memory_gbs);
    const u32 peak[] = { p->peak.f64,   p->peak.f32,  p->peak.t_f64, p->peak.t_tf32,
                         p->peak.t_f16, p->peak.t_f8, p->peak.t_f4,  p->peak.t_i8 };
    struct json x = json_open(&o, "peak_gops", '{');
    for (u32 k = 0; k < COUNT_OF(peak); k++)
        if (peak[k]) json_number(&x, count_limit_name[ROOF_F64 + k], peak[k]);
    json_end(&x, '}');
    json_end(&o, '}');
}

static void operation_json(struct json *j, const struct timeline_op *x)
{
    struct json o = json_open(j, NULL, '{');
    json_text(&o, "kind", timeline_kind_name[x->kind]);
    json_number(&o, "stream", x->stream);
    if (x->event) json_number(&o, "event", x->event);
    if (x->bytes) json_number(&o, "bytes", x->bytes);
    if (x->kind == TIME_TO_DEVICE || x->kind == TIME_FROM_DEVICE) json_bool(&o, "pageable", x->pageable);
    if (x->kernel) {
        json_text(&o, "kernel", x->kernel);
        json_triple(&o, "grid", x->grid);
        json_triple(&o, "block", x->block);
    }
    json_bool(&o, "waits", x->waits);
    json_text(&o, "site", x->site);
    if (x->graph) json_number(&o, "graph", x->graph);
    json_number(&o, "start_ps", x->start);
    json_number(&o, "end_ps", x->end);
    json_number(&o, "call_ps", x->call);
    json_number(&o, "return_ps", x->back);
    json_end(&o, '}');
}

/* What was enqueued, with its times by the model, and what is advised about it. */
static void operations_list(struct json *j, const struct counts *c)
{
    struct advices found;
    if (c->timeline) timeline_run(c, c->timeline);
    struct json o = json_open(j, "operations", '[');
    for (u32 k = 0; c->timeline && k < c->timeline->n; k++)
        if (c->timeline->op[k].kind != TIME_EMPTY) operation_json(&o, &c->timeline->op[k]);
    json_end(&o, ']');
    json_number(j, "operations_left_out", c->timeline ? c->timeline->more : 0);
    advise_operations(c, &found);
    struct json a = json_open(j, "advice", '[');
    for (u32 k = 0; k < found.n; k++) advice_json(&a, &found.p[k]);
    json_end(&a, ']');
    arena_free(&found.mem);
}

static void device_json(struct json *j, struct counts *c, struct excerpts *x)
{
    struct json o = json_open(j, NULL, '{');
    struct arena mem = { 0 };
    u32 n;
    lock(&c->lock);
    card_json(&o, c->card);
    const struct count_kernel **list = count_kernels(c, &mem, &n);
    struct json k = json_open(&o, "kernels", '[');
    for (u32 i = 0; i < n; i++) kernel_json(&k, c, list[i], x);
    json_end(&k, ']');
    operations_list(&o, c);
    unlock(&c->lock);
    arena_free(&mem);
    json_end(&o, '}');
}

void counts_json(struct counts *const *c, u32 n, struct report *const *reports, u32 nreports, struct text *out)
{
    struct json top = { .out = out }, o = json_open(&top, NULL, '{');
    struct excerpts sources = { 0 };
    json_text(&o, "schema", "lockstep-profile");
    json_number(&o, "version", 1);
    struct json d = json_open(&o, "devices", '[');
    for (u32 i = 0; i < n; i++) device_json(&d, c[i], &sources);
    json_end(&d, ']');
    struct text findings = { 0 };
    report_json(reports, nreports, &findings);
    while (findings.n && findings.p[findings.n - 1] == '\n') findings.n--;
    json_key(&o, "report");
    text_put(out, findings.p, findings.n);
    text_free(&findings);
    names_json(&o, reports, nreports);
    excerpts_of(&sources, reports, nreports);
    excerpts_json(&sources, &o);
    excerpts_free(&sources);
    json_end(&o, '}');
    text_add(out, "\n");
    sources_drop();
}
