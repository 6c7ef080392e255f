/* A launch by contract: the //! lines of the file give what the command line leaves out.
 *
 * What is on the command line wins. Arguments with the name of one of the contract's take its place, the others fill
 * the places from the first on; --grid, --block and --shared replace what the contract says. The rest comes from the
 * contract, with the dims of --dim or its own. */
#include "cli/cli.h"
#include "base/c_text.h"
#include "launch/launch.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <lockstep_lab.h>
#include <stdlib.h>

enum { SHOW_ELEMENTS = 6 };

/* The next NAME=VALUE of a list with commas; false: it is not one. */
static bool next_pair(const char **list, struct str *name, struct str *value)
{
    const char *p = *list, *equals;
    size_t n = strcspn(p, ",");
    equals = memchr(p, '=', n);
    *list = p + n + (p[n] == ',');
    if (!equals || equals == p || equals + 1 == p + n) return false;
    *name = (struct str){ p, (u32)(equals - p) };
    *value = (struct str){ equals + 1, (u32)(p + n - equals - 1) };
    return true;
}

bool launch_dim_parse(struct arena *a, const char *text, struct launch_options *o, struct error *e)
{
    struct str name, value;
    for (const char *p = text; *p;) {
        char *end = NULL;
        bool pair = next_pair(&p, &name, &value);
        errno = 0;
        long long v = pair ? strtoll(value.p, &end, 10) : 0;
        if (!pair || errno || end != value.p + value.n || isspace((unsigned char)value.p[0]))
            return error_set(e, ERR_INPUT, "--dim %.60s: this is --dim NAME=NUMBER, as in --dim rows=100,cols=64",
                             text);
        if (o->dims == LAUNCH_DIMS) return error_set(e, ERR_INPUT, "more than %d dims", LAUNCH_DIMS);
        o->dim[o->dims++] = (lk_dim){ arena_str(a, name), v };
    }
    return o->dims > 0 || error_set(e, ERR_INPUT, "--dim needs something after it: --dim NAME=NUMBER");
}

bool launch_config_parse(struct arena *a, const char *text, struct launch_options *o, struct error *e)
{
    struct str name, value;
    for (const char *p = text; *p;) {
        if (!next_pair(&p, &name, &value))
            return error_set(e, ERR_INPUT, "--config %.60s: this is --config NAME=VALUE, as in --config T=f16,BLOCK=64",
                             text);
        if (o->choices == LAUNCH_DIMS) return error_set(e, ERR_INPUT, "more than %d values for --config", LAUNCH_DIMS);
        o->choice[o->choices++] = (lk_choice){ arena_str(a, name), arena_str(a, value) };
    }
    return o->choices > 0 || error_set(e, ERR_INPUT, "--config needs something after it: --config NAME=VALUE");
}

int launch_contract_read(lk_gpu *gpu, const struct launch_options *o, lk_contract **contract, struct error *e)
{
    const char *path = o->contract ? o->contract : o->path;
    struct str text;
    if (o->no_contract) return EXIT_CLEAN;
    if (!file_read(path, &text, e)) return cli_error_value(e);
    lk_status status = o->case_line
                           ? lk_contract_read_case(gpu, path, text.p, text.n, o->kernel, o->case_line, contract)
                           : lk_contract_read_with(gpu, path, text.p, text.n, o->choice, o->choices, contract);
    base_free((void *)text.p);
    if (status != LK_OK) return cli_error_status(status, lk_gpu_error(gpu));
    bool wanted = o->contract || o->dims || o->case_line;
    if (lk_contract_kernel(*contract, 0) || !wanted) return EXIT_CLEAN;
    return cli_error("%s has no contract: a block of lines that begins with //! kernel NAME", path);
}

/* What the source calls an element, as the type of a contract; NULL: not known. */
static const char *element_type(const char *param)
{
    static const char *const known[][2] = {
        { "float", "f32" },   { "double", "f64" },         { "int", "i32" },     { "__half", "f16" },
        { "half", "f16" },    { "__nv_bfloat16", "bf16" }, { "int32_t", "i32" }, { "uint32_t", "u32" },
        { "int64_t", "i64" }, { "uint64_t", "u64" },       { "int16_t", "i16" }, { "uint16_t", "u16" },
        { "int8_t", "i8" },   { "uint8_t", "u8" },         { "bool", "bool" },
    };
    const char *p = param;
    for (;;) { /* the first word that is no qualifier */
        while (*p && !is_word_char(*p)) p++;
        size_t n = word_span(p, NULL);
        struct str word = { p, (u32)n };
        if (!n) return NULL;
        p += n;
        if (str_is(word, "const") || str_is(word, "volatile") || str_is(word, "std")) continue;
        for (u32 i = 0; i < COUNT_OF(known); i++)
            if (str_is(word, known[i][0])) return known[i][1];
        return NULL;
    }
}

bool launch_type_agrees(const struct signature *s, u32 i, const char *name, const char *type, bool array,
                        const char *path, u32 line, struct error *e)
{
    const char *in_source = i < s->params ? element_type(s->text[i]) : NULL;
    bool pointer = in_source && strchr(s->text[i], '*');
    const struct scalar *is = scalar_find(str_of(type)), *should = in_source ? scalar_find(str_of(in_source)) : NULL;
    if (!is || !should || array != pointer) return true;
    /* unsigned or plain bits are a matter of taste; width and float are not */
    bool same = is->bytes == should->bytes &&
                ((is->class == SCALAR_FLOAT) == (should->class == SCALAR_FLOAT) || is->class == SCALAR_BITS) &&
                is->exponent == (is->class == SCALAR_FLOAT ? should->exponent : 0);
    return same || error_set(e, ERR_INPUT, "%s:%u: the contract makes `%s` %s, and the source says %s", path, line,
                             name, type, s->text[i]);
}

/* The names and element types of the source, where it is there, against those of the contract. */
static bool names_agree(const struct signature *s, u32 i, const lk_argument *g, const char *path, struct error *e)
{
    if (!s->params || !s->name[i][0]) return true;
    if (strcmp(s->name[i], g->name))
        return error_set(e, ERR_INPUT,
                         "%s:%u: the contract calls argument %u `%s`, and the source `%s` (%s): arg lines stand in the "
                         "order of the parameters",
                         path, g->line, i, g->name, s->name[i], s->text[i]);
    return launch_type_agrees(s, i, g->name, g->type, g->kind == LK_ARGUMENT_BUFFER, path, g->line, e);
}

/* Argument i as the contract has it, in the form of one from the command line. */
static bool from_contract(struct arena *a, const lk_contract *c, u32 i, const lk_argument *g, struct arg *out)
{
    static const enum arg_kind kinds[] = { ARG_SCALAR, ARG_BUFFER, ARG_BYTES, ARG_NULL };
    *out = (struct arg){ .kind = kinds[g->kind],
                         .name = g->name,
                         .text = g->name,
                         .type = scalar_find(str_of(g->type)),
                         .by_contract = true };
    if (g->kind == LK_ARGUMENT_BUFFER && g->same >= 0) {
        out->kind = ARG_SAME;
        out->same = (u32)g->same;
        return true;
    }
    if (g->kind == LK_ARGUMENT_BUFFER) {
        if (g->offset) return false;
        out->dims = g->rank;
        for (u32 k = 0; k < g->rank; k++) out->dim[k] = (u32)g->dim[k];
        out->count = g->bytes / out->type->bytes;
        out->fill.kind = g->filled ? FILL_ZEROS : FILL_UNINIT;
        return true;
    }
    out->nbytes = (u32)g->bytes;
    out->bytes = arena_alloc(a, g->bytes, 8);
    return lk_contract_fill(c, i, 0, g->kind == LK_ARGUMENT_VALUE ? out->value : out->bytes) == LK_OK;
}

/* Where each argument of the command line goes: by name, else to the first free place. UINT32_MAX: there is none. */
static u32 place_of(const struct arg *g, const lk_contract *c, const bool *taken, u32 n)
{
    lk_argument info;
    for (u32 i = 0; g->name && i < n; i++)
        if (lk_contract_argument(c, i, &info) == LK_OK && !strcmp(info.name, g->name)) return i;
    for (u32 i = 0; i < n; i++)
        if (!taken[i]) return i;
    return UINT32_MAX;
}

static bool merge(struct arena *a, const lk_contract *c, const struct signature *s, struct launch_options *o,
                  struct error *e)
{
    u32 n = lk_contract_argument_count(c);
    struct arg *all = NEW_ARRAY(a, struct arg, n + 1);
    bool *taken = NEW_ARRAY(a, bool, n + 1);
    for (u32 k = 0; k < o->args; k++) {
        u32 i = place_of(&o->arg[k], c, taken, n);
        if (i == UINT32_MAX) return true; /* too many: said when they are counted */
        if (taken[i])
            return error_set(e, ERR_INPUT, "argument %s is given twice",
                             o->arg[k].name ? o->arg[k].name : o->arg[k].text);
        taken[i] = true;
        all[i] = o->arg[k];
    }
    for (u32 i = 0; i < n; i++) {
        lk_argument g;
        if (lk_contract_argument(c, i, &g) != LK_OK || !names_agree(s, i, &g, o->contract ? o->contract : o->path, e) ||
            (!taken[i] && !from_contract(a, c, i, &g, &all[i]))) {
            if (g.offset && !e->code)
                error_set(e, ERR_INPUT, "%s begins past the start of its memory: lockstep test --case runs such a case",
                          g.name);
            return false;
        }
        if (taken[i] && !all[i].name) all[i].name = g.name;
    }
    memcpy(o->arg, all, n * sizeof *all);
    o->args = n;
    return true;
}

int launch_contract_bind(struct arena *a, lk_gpu *gpu, lk_contract *c, const lk_kernel *kernel,
                         const struct signature *s, struct launch_options *o, struct error *e)
{
    lk_status status = c && lk_contract_kernel(c, 0) ? lk_contract_bind(c, kernel, o->dim, o->dims) : LK_NOTHING;
    if (status == LK_NOTHING && !o->dims && !o->contract) return EXIT_CLEAN;
    if (status != LK_OK) return cli_error_status(status == LK_NOTHING ? LK_BAD_INPUT : status, lk_gpu_error(gpu));
    if (o->merged) return EXIT_CLEAN;
    o->merged = true;
    lk_contract_oracle_read(c);
    if (!merge(a, c, s, o, e)) return e->code ? cli_error_value(e) : cli_error_status(LK_BAD_INPUT, lk_gpu_error(gpu));
    if (lk_contract_is_empty(c) && !o->grid[0]) {
        printf("%s (%s): the grid has no blocks, and nothing is launched\n", lk_kernel_plain(kernel),
               lk_contract_dims(c));
        return EXIT_NOTHING;
    }
    lk_launch l = { .size = sizeof l };
    lk_contract_shape(c, &l);
    if (!o->grid[0]) memcpy(o->grid, l.grid, sizeof o->grid);
    if (!o->block[0]) memcpy(o->block, l.block, sizeof o->block);
    if (!o->cluster[0]) memcpy(o->cluster, l.cluster, sizeof o->cluster);
    if (!o->shared_given) o->shared = l.shared_bytes;
    o->cooperative |= l.cooperative != 0;
    return EXIT_CLEAN;
}

/* Where the smallest and the largest element are, and how many are NaN. */
struct span {
    u64 low, high, nans;
    bool any;
};

static struct span measure(const struct scalar *t, const u8 *data, u64 count)
{
    struct span s = { 0 };
    for (u64 i = 0; i < count; i++) {
        double v = scalar_load(t, data + i * t->bytes);
        if (isnan(v)) {
            s.nans++;
            continue;
        }
        s.low = !s.any || v < scalar_load(t, data + s.low * t->bytes) ? i : s.low;
        s.high = !s.any || v > scalar_load(t, data + s.high * t->bytes) ? i : s.high;
        s.any = true;
    }
    return s;
}

/* "out y f32[100,72]: 1 2 3 ... (7200 elements, 0 to 9)" */
static void show(const lk_argument *g, const char *where, const u8 *data, struct text *out)
{
    const struct scalar *t = scalar_find(str_of(g->type));
    u64 count = g->bytes / t->bytes;
    struct span s = measure(t, data, count);
    char one[64], two[64];
    text_add(out, "%s%s %s %s[", where, g->flow == LK_FLOW_OUT ? "out" : "inout", g->name, g->type);
    for (u32 i = 0; i < g->rank; i++) text_add(out, "%s%" PRIu64, i ? "," : "", g->dim[i]);
    text_add(out, "]:");
    for (u64 i = 0; i < MIN_OF(count, (u64)SHOW_ELEMENTS); i++) {
        scalar_print(t, data + i * t->bytes, one, sizeof one);
        text_add(out, " %s", one);
    }
    if (count > SHOW_ELEMENTS) {
        scalar_print(t, data + s.low * t->bytes, one, sizeof one);
        scalar_print(t, data + s.high * t->bytes, two, sizeof two);
        text_add(out, " ... (%" PRIu64 " elements", count);
        if (s.any) text_add(out, ", %s to %s", one, two);
        if (s.nans) text_add(out, ", %" PRIu64 " NaN", s.nans);
        text_add(out, ")");
    }
    text_add(out, "\n");
}

bool launch_contract_show(struct session *s, struct text *out, struct error *e)
{
    const char *where = launch_of_several(s) ? arena_printf(&s->mem, "launch %u, ", s->number + 1) : "";
    for (u32 i = 0; i < s->o->args; i++) {
        lk_argument g;
        u64 address = s->buffer[i].address;
        if (lk_contract_argument(s->contract, i, &g) != LK_OK || g.kind != LK_ARGUMENT_BUFFER || g.flow == LK_FLOW_IN ||
            !address || !g.bytes)
            continue;
        u8 *data = base_alloc(g.bytes);
        bool ok = data || error_set(e, ERR_MEMORY, "no memory to look at %s (%" PRIu64 " bytes)", g.name, g.bytes);
        if (ok && lk_memory_read(s->gpu, address, data, g.bytes) != LK_OK)
            ok = error_set(e, ERR_SYSTEM, "cannot read %s back: %.300s", g.name, lk_gpu_error(s->gpu));
        if (ok) show(&g, where, data, out);
        base_free(data);
        if (!ok) return false;
    }
    return true;
}
