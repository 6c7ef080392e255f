/* Oracles of the public interface (lockstep_lab.h): texts, values and bounds without a gpu. */
#include "api/host.h"
#include "oracle/oracle.h"
#include <lockstep_lab.h>

enum { TERMS_MOST = 1 << 12 }; /* that lk_oracle_why looks for */

struct lk_oracle {
    struct handle handle;
    struct arena mem;
    struct oracle *oracle;
    struct oracle_name *name;
    const void **data; /* by name */
    struct oracle_options how;
    struct oracle_result result;
    struct text error;
    struct str text; /* the last one that was read, for columns */
};

static lk_status failed(lk_oracle *o, const struct error *e)
{
    o->error.n = 0;
    if (e->where[0]) text_add(&o->error, "%s: ", e->where);
    text_add(&o->error, "%s", e->text);
    if (e->excerpt[0]) text_add(&o->error, "\n%s", e->excerpt);
    return e->code == ERR_UNSUPPORTED ? LK_UNSUPPORTED : e->code == ERR_MEMORY ? LK_OUT_OF_MEMORY : LK_BAD_INPUT;
}

static u32 oracle_ended(struct handle *h)
{
    lk_oracle *o = (lk_oracle *)h;
    oracle_result_free(&o->result);
    text_free(&o->error);
    arena_free(&o->mem);
    handle_free(o, sizeof *o);
    return 0;
}

lk_oracle *lk_oracle_new(const lk_oracle_name *names, uint32_t n)
{
    if (n && !names) {
        HOST_MISSING(NULL, "list of names");
        return NULL;
    }
    lk_oracle *o = handle_new(sizeof *o);
    if (!o) return NULL;
    o->handle.end = oracle_ended;
    handle_open(&o->handle, NULL, HANDLE_ORACLE);
    o->name = NEW_ARRAY(&o->mem, struct oracle_name, (size_t)n + 1);
    o->data = NEW_ARRAY(&o->mem, const void *, (size_t)n + 1);
    for (u32 i = 0; i < n; i++) {
        struct oracle_name *to = &o->name[i];
        if (!names[i].name) {
            HOST_MISSING(NULL, "name");
            lk_oracle_free(o);
            return NULL;
        }
        to->name = arena_str(&o->mem, str_of(names[i].name));
        to->value = names[i].value;
        to->in = true;
        o->data[i] = names[i].data;
        if (!names[i].type) continue;
        to->type = scalar_find(str_of(names[i].type));
        to->shape.rank = names[i].rank;
        if (!to->type || names[i].rank > ORACLE_RANK || !names[i].data) {
            lk_oracle_free(o);
            return NULL;
        }
        memcpy(to->shape.dim, names[i].dim, sizeof to->shape.dim);
    }
    o->oracle = oracle_new(&o->mem, o->name, n);
    return o;
}

void lk_oracle_free(lk_oracle *oracle)
{
    HOST_CALL(/* nothing */, USE_IF(ORACLE, oracle));
    u32 none;
    if (oracle) host_destroy(&call, &oracle->handle, __func__, &none);
}

lk_status lk_oracle_accumulate(lk_oracle *o, const char *words)
{
    HOST_CALL(LK_BAD_INPUT, USE(ORACLE, o));
    if (!words) return HOST_MISSING(NULL, "text");
    struct error e = { 0 };
    struct str all = str_of(words);
    return oracle_options_read(&o->how, "accumulate", all, all, &e) ? LK_OK : failed(o, &e);
}

lk_status lk_oracle_read(lk_oracle *o, const char *text)
{
    HOST_CALL(LK_BAD_INPUT, USE(ORACLE, o));
    if (!text) return HOST_MISSING(NULL, "text");
    struct error e = { 0 };
    o->text = str_of(arena_str(&o->mem, str_of(text)));
    return oracle_read(o->oracle, "oracle", o->text, o->text, &e) ? LK_OK : failed(o, &e);
}

lk_status lk_oracle_evaluate(lk_oracle *o)
{
    HOST_CALL(LK_BAD_INPUT, USE(ORACLE, o));
    struct error e = { 0 };
    oracle_result_free(&o->result);
    return oracle_evaluate(o->oracle, &o->how, o->data, &o->result, &e) ? LK_OK : failed(o, &e);
}

int lk_oracle_output(const lk_oracle *o, uint32_t i, lk_oracle_result *out)
{
    HOST_CALL(0, USE(ORACLE, o));
    if (!out) HOST_MISSING(NULL, "place for the result");
    if (!out || i >= o->result.n) return 0;
    const struct oracle_array *a = &o->result.array[i];
    struct oracle_output d = oracle_output(o->oracle, i);
    *out = (lk_oracle_result){ .name = d.name,
                               .rank = d.shape.rank,
                               .count = a->count,
                               .value = a->value,
                               .worst = a->worst,
                               .suspect = a->suspect,
                               .unknown = a->unknown,
                               .exact = a->exact,
                               .sampled = a->sampled };
    memcpy(out->dim, d.shape.dim, sizeof out->dim);
    return 1;
}

uint32_t lk_oracle_why(lk_oracle *o, uint32_t i, uint64_t index, lk_oracle_term *terms, uint32_t most)
{
    HOST_CALL(0, USE(ORACLE, o));
    if (!terms && most) {
        HOST_MISSING(NULL, "list of terms");
        return 0;
    }
    struct arena mem = { 0 };
    struct error e = { 0 };
    most = MIN_OF(most, (u32)TERMS_MOST);
    struct oracle_term *found = NEW_ARRAY(&mem, struct oracle_term, most + 1);
    u32 n = 0;
    if (i < o->result.n && index < o->result.array[i].count)
        n = oracle_why(o->oracle, &o->how, o->data, i, index, found, most, &mem, &e);
    for (u32 k = 0; k < n; k++) {
        const char *at = found[k].at;
        bool here = at && at >= o->text.p && at < o->text.p + o->text.n;
        terms[k].share = found[k].share;
        terms[k].column = here ? (u32)(at - o->text.p) + 1 : 0;
        snprintf(terms[k].what, sizeof terms[k].what, "%s", found[k].what);
    }
    if (e.code) failed(o, &e);
    arena_free(&mem);
    return n;
}

const char *lk_oracle_accumulates(const lk_oracle *o)
{
    HOST_CALL("", USE(ORACLE, o));
    return o->result.accumulate ? o->result.accumulate : "";
}

const char *lk_oracle_error(const lk_oracle *o)
{
    HOST_CALL("", USE(ORACLE, o));
    return o->error.n ? o->error.p : "";
}

int lk_oracle_row(uint32_t i, lk_oracle_primitive *row)
{
    struct oracle_primitive p;
    if (!row) HOST_MISSING(NULL, "place for the row");
    if (!row || !oracle_primitive(i, &p)) return 0;
    *row = (lk_oracle_primitive){ p.name, p.family, p.value, p.prop, p.loc, p.fast, p.gradient };
    return 1;
}

const char *lk_oracle_signature(uint32_t i) { return oracle_signature(i); }
const char *lk_oracle_definitions(void) { return oracle_definitions(); }
