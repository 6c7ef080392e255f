/* The report for machines. docs/reference/report.md describes every field, docs/reference/report.schema.json the same
 * for programs; a change of meaning there changes `version`. Nothing in it depends on where memory lies: addresses are
 * an object's name and an offset. */
#include "report/entry.h"
#include "base/json.h"
#include <inttypes.h>

enum { VERSION = 2 };

static void put_place(struct json *j, const char *key, const struct place *p)
{
    if (!p) {
        json_null(j, key);
        return;
    }
    struct json o = json_open(j, key, '{');
    json_text(&o, "file", p->file);
    json_number(&o, "line", p->line);
    json_number(&o, "column", p->col);
    json_text(&o, "function", p->function);
    json_text(&o, "ptx_file", p->ptx_file);
    json_number(&o, "ptx_line", p->ptx_line);
    json_text(&o, "ptx_text", p->ptx_text);
    put_place(&o, "inlined_at", p->inlined_at);
    json_end(&o, '}');
}

static void put_box(struct json *j, const char *key, const struct box *b)
{
    struct json o = json_open(j, key, '{');
    json_triple(&o, "min", b->min);
    json_triple(&o, "max", b->max);
    json_triple(&o, "step", b->step);
    json_number(&o, "count", b->count);
    json_bool(&o, "exact", box_exact(b));
    json_end(&o, '}');
}

/* What `write` makes of the entry, as a text; null when it is nothing. */
static void put_written(struct json *j, const char *key, const struct entry *e,
                        void (*write)(const struct entry *, struct text *))
{
    struct text t = { 0 };
    write(e, &t);
    json_text(j, key, t.p);
    text_free(&t);
}

/* A set of threads: those of the finding, or the second ones of a finding about two. */
static void put_threads(struct json *j, const char *key, const struct entry *e, bool second)
{
    const struct thread_set *s = second ? &e->against : &e->who;
    struct crowd c;
    if (!e->f.nlanes || (second && !e->f.rival)) {
        json_null(j, key);
        return;
    }
    struct json o = json_open(j, key, '{');
    put_written(&o, "text", e, second ? against_text : who_text);
    json_triple(&o, "grid", e->f.nctaid);
    json_triple(&o, "block", e->f.ntid);
    json_triple(&o, "first_cta", second ? e->f.rival->cta : e->f.cta);
    json_number(&o, "first_thread", second ? e->f.rival->thread : e->f.thread[e->first_lane]);
    if (who_sum(s, &c)) {
        json_number(&o, "distinct_threads", c.total);
        put_box(&o, "ctas", &c.ctas);
        put_box(&o, "threads", &c.threads);
        json_bool(&o, "same_in_each_cta", c.same);
        json_bool(&o, "consecutive", c.consecutive);
    }
    json_bool(&o, "complete", !s->partial);
    json_end(&o, '}');
}

static void put_object(struct json *j, const struct finding *f)
{
    if (!f->object) {
        json_null(j, "object");
        return;
    }
    struct json o = json_open(j, "object", '{');
    json_text(&o, "name", f->object);
    json_text(&o, "type", f->object_type);
    json_number(&o, "bytes", f->object_size);
    json_number(&o, "element_bytes", f->element_size);
    json_text(&o, "note", f->object_note);
    json_end(&o, '}');
}

/* Where there is no object, the address as text: numbers above 2^53 do not survive most readers. */
static void put_at(struct json *j, const char *offset, const char *address, const struct finding *f, u64 addr)
{
    char hex[24];
    if (f->object) {
        json_signed(j, offset, (s64)(addr - f->object_base));
        return;
    }
    snprintf(hex, sizeof hex, "0x%" PRIx64, addr);
    json_text(j, address, hex);
}

static void put_access(struct json *j, const struct entry *e)
{
    const struct finding *f = &e->f;
    if (!f->access) {
        json_null(j, "access");
        return;
    }
    struct json o = json_open(j, "access", '{');
    put_written(&o, "text", e, what_text);
    json_text(&o, "kind", f->access);
    json_text(&o, "space", f->space);
    json_number(&o, "bytes", f->width);
    json_text(&o, "how", f->how);
    json_text(&o, "value", f->value);
    put_at(&o, "offset", "address", f, entry_address(e));
    put_object(&o, f);
    json_text(&o, "neighbour", f->neighbour);
    if (e->has_range) {
        u64 base = f->object ? f->object_base : 0;
        put_at(&o, "offset_min", "address_min", f, base + (u64)e->low);
        put_at(&o, "offset_max", "address_max", f, base + (u64)e->high);
        json_number(&o, "offset_step", e->step);
    }
    json_end(&o, '}');
}

static void put_rival(struct json *j, const struct entry *e)
{
    const struct rival *v = e->f.rival;
    if (!v) {
        json_null(j, "rival");
        return;
    }
    struct json o = json_open(j, "rival", '{');
    put_written(&o, "text", e, rival_text);
    json_text(&o, "kind", v->access);
    json_number(&o, "bytes", v->width);
    json_text(&o, "how", v->how);
    json_text(&o, "value", v->value);
    put_at(&o, "offset", "address", &e->f, v->addr);
    json_end(&o, '}');
}

static void put_sentence(struct json *j, const char *key, const struct entry *e,
                         void (*write)(const struct entry *e, struct text *out))
{
    struct text t = { 0 };
    write(e, &t);
    json_text(j, key, t.p);
    text_free(&t);
}

/* Its own lines, and the places of the findings merged into it. */
static void put_detail(const struct entry *e, struct text *out)
{
    text_add(out, "%s", e->f.detail ? e->f.detail : "");
    u32 before = out->n;
    also_text(e, out);
    if (out->n > before) text_add(out, "\n");
}

/* The functions of the host after a site: a mark of where.h, which the launcher replaces; nothing for others. */
static void put_stack(struct json *j, const char *site)
{
    char mark[32];
    if (!site || strncmp(site, "{lk@s", 5) != 0) return;
    snprintf(mark, sizeof mark, "{lk@h%.20s", site + 5);
    json_text(j, "stack", mark);
}

/* The host's side: the launch or the call that the finding is about. */
static void put_host(struct json *j, const struct entry *e)
{
    const char *site = e->f.call ? e->f.call : e->f.host ? e->f.host : e->origin.site;
    if (!site && !e->origin.nth && !e->origin.by) return;
    struct json o = json_open(j, "host", '{');
    json_text(&o, "call", site);
    if (e->origin.by) json_text(&o, "launched_by", e->origin.by);
    put_stack(&o, site);
    if (e->origin.nth) {
        json_number(&o, "launch", e->origin.nth);
        json_number(&o, "launches", entry_launches(e));
        json_number(&o, "stream", e->origin.stream ? e->origin.stream - 1 : 0);
    }
    json_end(&o, '}');
}

static void put_launch(struct json *j, const struct again *a)
{
    struct json o = json_open(j, NULL, '{');
    json_number(&o, "launch", a->nth ? a->nth : a->launch);
    json_text(&o, "call", a->site);
    json_text(&o, "object", a->object);
    json_number(&o, "occurrences", a->occurrences);
    if (a->has_range) json_signed(&o, "offset_min", a->low);
    if (a->has_range) json_signed(&o, "offset_max", a->high);
    if (a->block[0]) json_triple(&o, "grid", a->grid);
    if (a->block[0]) json_triple(&o, "block", a->block);
    json_end(&o, '}');
}

/* The launches that one entry stands for, with what differs between them; that of the entry first. */
static void put_launches(struct json *j, const struct entry *e)
{
    struct json list = json_open(j, "launches", '[');
    struct again own;
    again_of(e, &own);
    put_launch(&list, &own);
    for (u32 i = 0; i < e->nagain; i++) put_launch(&list, &e->again[i]);
    json_end(&list, ']');
}

/* Its name in the source, which for C++ is not that of the module: no reader has to take names apart. */
static void put_kernel(struct json *j, const char *kernel)
{
    char name[256];
    if (kernel) name_plain(str_of(kernel), name, sizeof name);
    json_text(j, "kernel", kernel);
    json_text(j, "kernel_in_source", kernel ? name : NULL);
}

static void put_entry(struct json *j, const struct entry *e)
{
    const struct finding *f = &e->f;
    char code[16];
    text_add(j->out, j->more ? ",\n" : "\n");
    j->more = false;
    struct json o = json_open(j, NULL, '{');
    snprintf(code, sizeof code, "LK%04u", finding_code(f->kind));
    json_text(&o, "id", finding_id(f->kind));
    json_text(&o, "code", code);
    json_text(&o, "severity", finding_severity(f->kind) == SEV_ERROR ? "error" : "note");
    json_text(&o, "check", check_of(f->kind));
    json_text(&o, "rule", finding_rule(f->kind)[0] ? finding_rule(f->kind) : NULL);
    json_text(&o, "title", finding_title(f->kind));
    put_kernel(&o, f->kernel);
    if (e->launch) json_number(&o, "launch", e->launch);
    put_host(&o, e);
    if (e->nagain) put_launches(&o, e);
    json_number(&o, "occurrences", entry_occurrences(e));
    put_place(&o, "place", f->place);
    put_place(&o, "other", f->other);
    put_threads(&o, "who", e, false);
    put_threads(&o, "against", e, true);
    put_access(&o, e);
    put_rival(&o, e);
    put_place(&o, "origin", f->origin);
    json_text(&o, "origin_text", f->origin_text);
    put_sentence(&o, "cause", e, cause_text);
    put_sentence(&o, "order", e, order_text);
    put_sentence(&o, "fix", e, fix_text);
    put_sentence(&o, "detail", e, put_detail);
    json_end(&o, '}');
}

void report_json(struct report *const *r, u32 count, struct text *out)
{
    struct reports all;
    struct outcome outcome = report_outcome(r, count);
    struct text why = { 0 };
    report_why(r, count, &why); /* reports_begin holds the locks */
    reports_begin(&all, r, count);
    struct json j = { out, false }, o = json_open(&j, NULL, '{');
    json_text(&o, "schema", "lockstep-report");
    json_number(&o, "version", VERSION);
    json_text(&o, "verdict", ending_name(outcome_ending(&outcome)));
    if (why.n) json_text(&o, "why", why.p);
    text_free(&why);
    json_number(&o, "errors", all.errors);
    json_number(&o, "notes", all.notes);
    json_number(&o, "occurrences", all.occurrences);
    json_number(&o, "dropped", all.dropped);
    json_number(&o, "suppressed", all.suppressed);
    struct json list = json_open(&o, "findings", '[');
    u32 n = 0;
    for (u32 i = 0; i < all.entries; i++)
        if (!all.v[i]->suppressed) {
            put_entry(&list, all.v[i]);
            n++;
        }
    text_add(out, n ? "\n]}\n" : "]}\n");
    reports_end(&all);
}
