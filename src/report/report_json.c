/* The report for machines. docs/report.md describes every field; a change of meaning there changes `version`. */
#include "report/entry.h"
#include <inttypes.h>

struct json {                   /* a writer that knows where commas go */
    struct text *out;
    bool more;                  /* something stands before in this object or array */
};

static void comma(struct json *j)
{
    if (j->more)
        text_add(j->out, ",");
    j->more = true;
}

static void name(struct json *j, const char *key)
{
    comma(j);
    text_json(j->out, key);
    text_add(j->out, ":");
}

static void put_text(struct json *j, const char *key, const char *z)
{
    name(j, key);
    if (z)
        text_json(j->out, z);
    else
        text_add(j->out, "null");
}

static void put_number(struct json *j, const char *key, u64 n)
{
    name(j, key);
    text_add(j->out, "%" PRIu64, n);
}

static void put_signed(struct json *j, const char *key, s64 n)
{
    name(j, key);
    text_add(j->out, "%" PRId64, n);
}

/* Addresses are text: numbers above 2^53 do not survive most readers. */
static void put_address(struct json *j, const char *key, u64 n)
{
    name(j, key);
    text_add(j->out, "\"0x%" PRIx64 "\"", n);
}

static void put_bool(struct json *j, const char *key, bool b)
{
    name(j, key);
    text_add(j->out, b ? "true" : "false");
}

static void put_triple(struct json *j, const char *key, const u32 v[3])
{
    name(j, key);
    text_add(j->out, "[%u,%u,%u]", v[0], v[1], v[2]);
}

static struct json inner(struct json *j, const char *key)
{
    if (key)
        name(j, key);
    else
        comma(j);
    text_add(j->out, "{");
    return (struct json){ j->out, false };
}

static void put_place(struct json *j, const char *key, const struct place *p)
{
    if (!p) {
        name(j, key);
        text_add(j->out, "null");
        return;
    }
    struct json o = inner(j, key);
    put_text(&o, "file", p->file);
    put_number(&o, "line", p->line);
    put_number(&o, "column", p->col);
    put_text(&o, "function", p->function);
    put_text(&o, "ptx_file", p->ptx_file);
    put_number(&o, "ptx_line", p->ptx_line);
    put_text(&o, "ptx_text", p->ptx_text);
    put_place(&o, "inlined_at", p->inlined_at);
    text_add(o.out, "}");
}

static void put_box(struct json *j, const char *key, const struct box *b)
{
    struct json o = inner(j, key);
    put_triple(&o, "min", b->min);
    put_triple(&o, "max", b->max);
    put_triple(&o, "step", b->step);
    put_number(&o, "count", b->count);
    put_bool(&o, "exact", box_exact(b));
    text_add(o.out, "}");
}

static void put_who(struct json *j, const struct entry *e)
{
    if (!e->f.nlanes) {
        name(j, "who");
        text_add(j->out, "null");
        return;
    }
    struct json o = inner(j, "who");
    struct text t = { 0 };
    struct crowd c;
    who_text(e, &t);
    put_text(&o, "text", t.p);
    text_free(&t);
    put_triple(&o, "grid", e->f.nctaid);
    put_triple(&o, "block", e->f.ntid);
    put_triple(&o, "first_cta", e->f.cta);
    put_number(&o, "first_thread", e->f.thread[e->first_lane]);
    if (who_sum(&e->who, &c)) {
        put_number(&o, "distinct_threads", c.total);
        put_box(&o, "ctas", &c.ctas);
        put_box(&o, "threads", &c.threads);
        put_bool(&o, "same_in_each_cta", c.same);
        put_bool(&o, "consecutive", c.consecutive);
    }
    put_bool(&o, "complete", !e->who.partial);
    text_add(o.out, "}");
}

static void put_object(struct json *j, const struct finding *f)
{
    if (!f->object) {
        name(j, "object");
        text_add(j->out, "null");
        return;
    }
    struct json o = inner(j, "object");
    put_text(&o, "name", f->object);
    put_text(&o, "type", f->object_type);
    put_address(&o, "base", f->object_base);
    put_number(&o, "bytes", f->object_size);
    put_number(&o, "element_bytes", f->element_size);
    put_text(&o, "note", f->object_note);
    text_add(o.out, "}");
}

static void put_access(struct json *j, const struct entry *e)
{
    const struct finding *f = &e->f;
    if (!f->access) {
        name(j, "access");
        text_add(j->out, "null");
        return;
    }
    struct json o = inner(j, "access");
    struct text t = { 0 };
    what_text(e, &t);
    put_text(&o, "text", t.p);
    text_free(&t);
    put_text(&o, "kind", f->access);
    put_text(&o, "space", f->space);
    put_number(&o, "bytes", f->width);
    put_address(&o, "address", entry_address(e));
    put_object(&o, f);
    put_text(&o, "neighbour", f->neighbour);
    if (e->has_range) {
        if (f->object) {
            put_signed(&o, "offset_min", e->low);
            put_signed(&o, "offset_max", e->high);
        } else {
            put_address(&o, "address_min", (u64)e->low);
            put_address(&o, "address_max", (u64)e->high);
        }
        put_number(&o, "offset_step", e->step);
    }
    text_add(o.out, "}");
}

static void put_filled(struct json *j, const char *key, const struct entry *e, const char *sentence)
{
    struct text t = { 0 };
    filled_text(e, sentence, &t);
    put_text(j, key, t.p);
    text_free(&t);
}

static void put_entry(struct json *j, const struct entry *e)
{
    const struct finding *f = &e->f;
    text_add(j->out, j->more ? ",\n" : "\n");
    j->more = false;
    struct json o = inner(j, NULL);
    put_text(&o, "id", finding_id(f->kind));
    put_text(&o, "severity", finding_severity(f->kind) == SEV_ERROR ? "error" : "note");
    put_text(&o, "title", finding_title(f->kind));
    put_text(&o, "kernel", f->kernel);
    put_number(&o, "occurrences", e->occurrences);
    put_place(&o, "place", f->place);
    put_place(&o, "other", f->other);
    put_who(&o, e);
    put_access(&o, e);
    put_filled(&o, "cause", e, f->cause ? f->cause : finding_meaning(f->kind));
    put_filled(&o, "fix", e, f->fix ? f->fix : finding_fix(f->kind));
    put_text(&o, "detail", f->detail);
    put_address(&o, "cause_key", f->cause_key);
    text_add(o.out, "}");
}

void report_json(struct report *r, struct text *out)
{
    lock(&r->lock);
    text_add(out, "{\"schema\":\"lockstep-report\",\"version\":1,\"errors\":%u,\"notes\":%u,\"occurrences\":%" PRIu64
             ",\"dropped\":%" PRIu64 ",\"findings\":[", r->errors, r->notes, r->occurrences, r->dropped);
    struct entry **v = report_sorted(r);
    struct json j = { out, false };
    for (u32 i = 0; v && i < r->entries; i++)
        put_entry(&j, v[i]);
    text_add(out, "%s]}\n", v ? "\n" : "");
    base_free(v);
    unlock(&r->lock);
}
