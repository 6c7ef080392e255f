/* The report as SARIF 2.1.0 (OASIS), for code hosts and editors: the kinds are rules, the entries results. What a
 * suppression keeps out of our own report stays in, marked as suppressed: that is what the format wants. */
#include "report/entry.h"
#include "base/json.h"
#include "report/suppress.h"
#include <inttypes.h>

static const char *level(enum finding_kind k) { return finding_severity(k) == SEV_ERROR ? "error" : "note"; }

/* {"text": ...}, a message string of the standard: braces would be placeholders and are doubled (section 3.11.5), and
 * `](` would be a link (3.11.6). */
static void put_message(struct json *j, const char *key, const char *z)
{
    struct text t = { 0 };
    for (; *z; z++) text_add(&t, *z == '{' || *z == '}' ? "%c%c" : z[0] == ']' && z[1] == '(' ? "%c " : "%c", *z, *z);
    struct json o = json_open(j, key, '{');
    json_text(&o, "text", t.p ? t.p : "");
    json_end(&o, '}');
    text_free(&t);
}

static void put_rule(struct json *j, enum finding_kind k)
{
    char code[16];
    struct json o = json_open(j, NULL, '{');
    json_text(&o, "id", finding_id(k));
    put_message(&o, "shortDescription", finding_title(k));
    put_message(&o, "fullDescription", finding_meaning(k));
    put_message(&o, "help", finding_fix(k));
    struct json c = json_open(&o, "defaultConfiguration", '{');
    json_text(&c, "level", level(k));
    json_end(&c, '}');
    struct json p = json_open(&o, "properties", '{');
    snprintf(code, sizeof code, "LK%04u", finding_code(k));
    json_text(&p, "code", code);
    json_text(&p, "check", check_of(k));
    json_end(&p, '}');
    json_end(&o, '}');
}

/* A path as a URI reference: what has a meaning there, or is no ASCII, in %XX. */
static void put_uri(struct json *j, const char *path)
{
    struct text t = { 0 };
    text_add(&t, path[0] == '/' ? "file://" : "");
    for (const u8 *p = (const u8 *)path; *p; p++) {
        bool plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     strchr("/._-~", *p);
        text_add(&t, plain ? "%c" : "%%%02X", *p);
    }
    json_text(j, "uri", t.p);
    text_free(&t);
}

/* `col` in UTF-16 units, as the run declares them. */
static void put_physical(struct json *j, const char *file, u32 line, u32 col)
{
    struct json o = json_open(j, "physicalLocation", '{');
    struct json a = json_open(&o, "artifactLocation", '{');
    put_uri(&a, file);
    json_end(&a, '}');
    if (line) {
        struct json r = json_open(&o, "region", '{');
        json_number(&r, "startLine", line);
        if (col) json_number(&r, "startColumn", col);
        json_end(&r, '}');
    }
    json_end(&o, '}');
}

static void put_function(struct json *j, const char *function)
{
    char name[256];
    if (!function) return;
    name_plain(str_of(function), name, sizeof name);
    struct json list = json_open(j, "logicalLocations", '['), o = json_open(&list, NULL, '{');
    json_text(&o, "name", name);
    json_text(&o, "kind", "function");
    json_end(&o, '}');
    json_end(&list, ']');
}

/* The place that is the user's; `note` says what it is, NULL: the result's own. */
static void put_location(struct json *j, const struct place *all, const char *note)
{
    const struct place *p = place_shown(all);
    struct source s;
    source_open(p, &s);
    struct json o = json_open(j, NULL, '{');
    if (s.shown[0])
        put_physical(&o, s.shown, p->line, utf16_column(s.line, p->col));
    else if (p->ptx_file)
        put_physical(&o, p->ptx_file, p->ptx_line, 0);
    put_function(&o, p->function);
    if (note) put_message(&o, "message", note);
    json_end(&o, '}');
}

static void put_related(struct json *j, const struct entry *e)
{
    const struct finding *f = &e->f;
    struct text t = { 0 };
    if (!f->other && !f->origin) return;
    struct json list = json_open(j, "relatedLocations", '[');
    if (f->other) {
        rival_text(e, &t);
        put_location(&list, f->other, t.p ? t.p : "the other place");
    }
    if (f->origin) put_location(&list, f->origin, f->origin_text ? f->origin_text : "where the value came from");
    json_end(&list, ']');
    text_free(&t);
}

/* Title, access, threads and cause in one paragraph. */
static void message_text(const struct entry *e, struct text *out)
{
    struct text t = { 0 };
    if (e->launch) text_add(out, "Launch %u: ", e->launch);
    text_add(out, "%s: ", finding_title(e->f.kind));
    what_text(e, &t);
    if (t.n) text_add(out, "%s; ", t.p);
    text_free(&t);
    who_text(e, &t);
    if (t.n) text_add(out, "%s; ", t.p);
    text_free(&t);
    cause_text(e, out);
    if (out->n && out->p[out->n - 1] != '.') text_add(out, ".");
    text_add(out, " ");
    fix_text(e, out);
}

/* Stays the same while the file moves and lines above it come and go. */
static void put_fingerprint(struct json *j, const struct entry *e)
{
    const struct finding *f = &e->f;
    const struct place *p = place_shown(f->place);
    struct source s;
    source_open(p, &s);
    u64 h = str_hash(str_of(finding_id(f->kind)));
    const char *const part[] = { f->kernel, f->object, f->access, p && p->file ? path_name(p->file) : NULL,
                                 p ? p->function : NULL };
    for (u32 i = 0; i < COUNT_OF(part); i++) h = h * 31 + (part[i] ? str_hash(str_of(part[i])) : 1);
    h = h * 31 + (s.line.p ? str_hash(s.line) : 1);
    h = e->launch ? h * 31 + e->launch : h;
    char hex[24];
    snprintf(hex, sizeof hex, "%016" PRIx64, h);
    struct json o = json_open(j, "partialFingerprints", '{');
    json_text(&o, "lockstep/v1", hex);
    json_end(&o, '}');
}

static void put_result(struct json *j, const struct entry *e, u32 rule)
{
    const struct finding *f = &e->f;
    struct text t = { 0 };
    struct json o = json_open(j, NULL, '{');
    json_text(&o, "ruleId", finding_id(f->kind));
    json_number(&o, "ruleIndex", rule);
    json_text(&o, "level", level(f->kind));
    message_text(e, &t);
    put_message(&o, "message", t.p);
    text_free(&t);
    const char *host = f->call ? f->call : f->host ? f->host : e->origin.site;
    bool marked = host && !strncmp(host, "{lk@s", 5);
    if (f->place || marked) {
        struct json list = json_open(&o, "locations", '[');
        if (f->place)
            put_location(&list, f->place, NULL);
        else
            text_add(list.out, "{lk@j%s", host + 5); /* the launcher knows the line */
        json_end(&list, ']');
    }
    put_related(&o, e);
    json_number(&o, "occurrenceCount", MAX_OF(entry_occurrences(e), 1u));
    put_fingerprint(&o, e);
    if (e->launch) {
        struct json p = json_open(&o, "properties", '{');
        json_number(&p, "launch", e->launch);
        json_end(&p, '}');
    }
    struct json s = json_open(&o, "suppressions", '[');
    if (e->suppressed) {
        struct json one = json_open(&s, NULL, '{');
        json_text(&one, "kind", "external");
        json_end(&one, '}');
    }
    json_end(&s, ']');
    json_end(&o, '}');
    text_add(j->out, "\n");
}

/* Only the kinds that occur: numbers of rules are their order here. */
static void put_rules(struct json *j, struct entry **v, u32 n, u32 number[F_COUNT])
{
    u32 rules = 0;
    for (u32 k = 0; k < F_COUNT; k++) {
        bool used = false;
        for (u32 i = 0; i < n; i++) used |= v[i]->f.kind == k;
        if (!used) continue;
        number[k] = rules++;
        put_rule(j, k);
        text_add(j->out, "\n");
    }
}

/* Whether the run was done, in the words of SARIF; why not stands beside it. Results say what failed. */
static void put_invocation(struct json *run, const struct outcome *o, const char *why)
{
    enum ending ending = outcome_ending(o);
    bool done = ending == ENDING_PASSED || ending == ENDING_FAILED, hidden = o->failed && !o->errors;
    struct json list = json_open(run, "invocations", '['), one = json_open(&list, NULL, '{');
    json_bool(&one, "executionSuccessful", done);
    json_number(&one, "exitCode", (u64)ending_code(ending));
    if (!done || hidden) {
        struct json notes = json_open(&one, "toolExecutionNotifications", '['), n = json_open(&notes, NULL, '{');
        json_text(&n, "level", "error");
        put_message(&n, "message", why[0] ? why : ending_name(ending));
        json_end(&n, '}');
        json_end(&notes, ']');
    }
    json_end(&one, '}');
    json_end(&list, ']');
}

void report_sarif(struct report *const *r, u32 count, const char *version, struct text *out)
{
    u32 number[F_COUNT] = { 0 };
    struct reports all;
    struct outcome outcome = report_outcome(r, count);
    struct text why = { 0 };
    report_why(r, count, &why); /* reports_begin holds the locks */
    reports_begin(&all, r, count);
    struct entry **v = all.v;
    u32 n = all.entries;
    struct json top = { out, false }, j = json_open(&top, NULL, '{');
    json_text(&j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_text(&j, "version", "2.1.0");
    struct json runs = json_open(&j, "runs", '['), run = json_open(&runs, NULL, '{');
    struct json tool = json_open(&run, "tool", '{'), driver = json_open(&tool, "driver", '{');
    json_text(&driver, "name", "Lockstep");
    json_text(&driver, "version", version);
    struct json rules = json_open(&driver, "rules", '[');
    text_add(out, "\n");
    put_rules(&rules, v, n, number);
    json_end(&rules, ']');
    json_end(&driver, '}');
    json_end(&tool, '}');
    put_invocation(&run, &outcome, why.n ? why.p : "");
    text_free(&why);
    struct json results = json_open(&run, "results", '[');
    text_add(out, "\n");
    for (u32 i = 0; i < n; i++) put_result(&results, v[i], number[v[i]->f.kind]);
    json_end(&results, ']');
    json_text(&run, "columnKind", "utf16CodeUnits");
    json_end(&run, '}');
    json_end(&runs, ']');
    json_end(&j, '}');
    text_add(out, "\n");
    reports_end(&all);
}
