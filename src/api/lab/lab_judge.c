/* Judging a case: the outputs against the oracle of the contract, and what a mistake looks like. */
#include "lab/lab_outside.h"
#include "base/c_text.h"
#include <inttypes.h>
#include <math.h>

#define CLASSIFY_MOST 2e6 /* of one that is asked some hundred times */
enum { TERMS = 3 };

struct judging {
    struct lab_subject *s;
    const struct lab_how *how;
    const struct contract_case *c;
    const struct contract_kernel *k;
    const struct contract_texts *oracles; /* of the kernel, or of its op */
    bool forward;                         /* of an op: gradients are the other kernel's */
    const struct lab_data *all;           /* by argument */
    struct arena mem;
    struct oracle *oracle;
    struct oracle_name *name;
    const void **data; /* by name, before the launch */
    u32 names;         /* that the kernel has; those of functions follow */
    struct lab_functions functions;
    struct oracle_options options;
    struct oracle_given *given; /* by output */
    u32 *argument;              /* by output */
    struct oracle_result result;
};

static bool is_called(const struct contract_call *c, const char *kernel)
{
    size_t n = strcspn(kernel, "<");
    return c->name && !strncmp(c->name, kernel, n) && (!c->name[n] || c->name[n] == '<');
}

const struct contract_texts *lab_oracles(const struct contract *c, const struct contract_kernel *k, bool *forward)
{
    *forward = false;
    if (k->oracles.list.n) return &k->oracles;
    for (u32 i = 0; i < c->ops.n; i++) {
        const struct contract_op *op = &c->ops.p[i];
        /* one of several kernels does not compute the whole op */
        *forward = op->forward.n == 1 && is_called(&op->forward.p[0], k->name);
        bool backward = op->backward.n == 1 && is_called(&op->backward.p[0], k->name);
        if (op->oracles.list.n && (*forward || backward)) return &op->oracles;
    }
    return NULL;
}

/* The names that a text may speak of: arguments, then dims that are no arguments. */
static u32 names_of(struct judging *j, const struct lab_data *data)
{
    const struct bound *b = &j->s->contract->bound;
    const struct contract_kernel *k = j->k;
    u32 n = 0, most = k->args.n + k->dims.n + k->settings.list.n + j->functions.n + 1;
    j->name = NEW_ARRAY(&j->mem, struct oracle_name, most);
    j->data = NEW_ARRAY(&j->mem, const void *, most);
    for (u32 i = 0; i < k->args.n; i++) {
        const struct contract_arg *g = &k->args.p[i];
        struct oracle_name *to = &j->name[n];
        if (g->kind != CONTRACT_VALUE && g->kind != CONTRACT_BUFFER) continue;
        *to = (struct oracle_name){ .name = g->name, .in = g->flow != FLOW_OUT || g->kind == CONTRACT_VALUE };
        if (g->kind == CONTRACT_VALUE) {
            to->value = scalar_load(g->shape.type, b->arg[i].value);
        } else {
            to->type = g->shape.type;
            to->out = g->flow != FLOW_IN;
            to->shape.rank = g->shape.rank;
            memcpy(to->shape.dim, b->arg[i].shape.dim, sizeof to->shape.dim);
            j->data[n] = to->in ? data[i].before : NULL;
        }
        n++;
    }
    for (u32 i = 0; i < k->dims.n + k->settings.list.n; i++) {
        bool is_dim = i < k->dims.n, there = false;
        const struct setting *s = is_dim ? NULL : &k->settings.list.p[i - k->dims.n];
        const char *name = is_dim ? k->dims.p[i].name : s->name;
        for (u32 x = 0; x < n; x++) there |= !strcmp(j->name[x].name, name);
        if (there || (s && s->type)) continue;
        double value = is_dim ? (double)b->value[i].i : (double)s->value;
        j->name[n++] = (struct oracle_name){ .name = name, .value = value, .in = true };
    }
    j->names = n;
    for (u32 i = 0; i < k->settings.list.n;
         i++) { /* type T stands for what was chosen, where no argument has its name */
        const struct setting *s = &k->settings.list.p[i];
        bool there = !s->type;
        for (u32 x = 0; x < n; x++) there |= !strcmp(j->name[x].name, s->name);
        if (!there) j->name[n++] = (struct oracle_name){ .name = s->name, .word = s->type->name };
    }
    for (u32 i = 0; i < j->functions.n; i++) {
        const struct lab_function *f = &j->functions.p[i];
        j->name[n] =
            (struct oracle_name){ .name = f->hidden, .type = scalar_find(STR("f64")), .shape = f->shape, .in = true };
        j->data[n++] = f->value;
    }
    return n;
}

/* "[3,5]" */
static void index_text(const struct oracle_shape *s, u64 index, char *out, size_t size)
{
    u64 at[ORACLE_RANK] = { 0 }, rest = index;
    for (u32 d = s->rank; d-- > 0; rest /= s->dim[d]) at[d] = rest % s->dim[d];
    size_t n = (size_t)snprintf(out, size, "[");
    for (u32 d = 0; d < s->rank && n < size; d++)
        n += (size_t)snprintf(out + n, size - n, "%s%" PRIu64, d ? "," : "", at[d]);
    if (n < size) snprintf(out + n, size - n, "]");
}

/* Whether a statement `..., NAME, ... = ... grad( ...` defines the output. */
static bool is_gradient(const struct contract_texts *oracles, const char *name)
{
    size_t length = strlen(name);
    for (u32 i = 0; i < oracles->list.n; i++)
        for (const char *p = oracles->list.p[i].source ? "" : oracles->list.p[i].text; *p; p += *p == ';') {
            size_t n = strcspn(p, ";");
            const char *equals = memchr(p, '=', n), *grad = equals ? strstr(equals, "grad(") : NULL;
            for (const char *q = p; grad && grad < p + n && q + length <= equals; q++)
                if (!strncmp(q, name, length) && is_whole_word(p, q, length, NULL)) return true;
            p += n;
        }
    return false;
}

/* Whether every element is 0 or NaN, or as before. */
static bool is_nothing(const struct judging *j, u32 i)
{
    struct oracle_output o = oracle_output(j->oracle, i);
    u64 n = 1, nothing = 0;
    for (u32 d = 0; d < o.shape.rank; d++) n *= o.shape.dim[d];
    for (u64 x = 0; x < n; x++) {
        const u8 *p = (const u8 *)j->given[i].bytes + x * o.type->bytes;
        double v = scalar_load(o.type, p);
        nothing += isnan(v) || v == 0;
    }
    return n && nothing == n;
}

static bool has_contents(const struct contract_case *c, const char *word)
{
    for (u32 i = 0; i < c->contentses; i++)
        if (!strcmp(c->contents[i].value, word)) return true;
    return false;
}

static bool has_odd_contents(const struct contract_case *c)
{
    return has_contents(c, "inf") || has_contents(c, "nan") || has_contents(c, "huge");
}

/* Wrong by NaN and infinities alone, with contents that the contract does not rule out, and its author may not expect.
 */
static bool is_special(const struct judging *j, const struct oracle_judgement *v)
{
    return v->wrong && v->special == v->wrong && has_odd_contents(j->c);
}

/* Wrong in nothing but that its maxima pass over NaN: a note. */
static bool passes_over_nan(const struct judging *j, u32 i, const struct oracle_judgement *v)
{
    if (!is_special(j, v) || !has_contents(j->c, "nan") || oracle_cost(j->oracle) > CLASSIFY_MOST) return false;
    struct oracle_output o = oracle_output(j->oracle, i);
    char name[300];
    if (oracle_outputs(j->oracle) > 1)
        snprintf(name, sizeof name, "of %.40s: %s", o.name, oracle_nan_passed);
    else
        snprintf(name, sizeof name, "%s", oracle_nan_passed);
    struct oracle_hints only = { .only = name, .output = o.name };
    struct oracle_explanation x;
    struct error e = { 0 };
    return oracle_classify_hinted(j->oracle, &j->options, j->data, j->given, &only, &x, &e) && x.met == ORACLE_FITS;
}

static enum finding_kind kind_of(const struct judging *j, u32 i, const struct oracle_judgement *v,
                                 enum oracle_label label)
{
    struct oracle_output o = oracle_output(j->oracle, i);
    if (v->verdict != ORACLE_WRONG && !j->how->twice) return F_result_suspect;
    if (is_special(j, v)) return F_result_special;
    if (j->how->launch) return F_result_again;
    if (is_gradient(j->oracles, o.name)) return o.type && is_nothing(j, i) ? F_gradient_missing : F_gradient_wrong;
    switch (label) {
    case ORACLE_FACTOR: return F_result_factor;
    case ORACLE_PERMUTED:
    case ORACLE_SHIFT: return F_result_permuted;
    case ORACLE_PART: return F_result_tail;
    case ORACLE_VARIANT:
    case ORACLE_PRECISION: return F_result_variant;
    case ORACLE_UNNAMED:
    case ORACLE_UNWRITTEN:
    case ORACLE_NAN: break;
    }
    return F_result_wrong;
}

/* An array that is read as if it were dense: the oracle over its memory as it lies there gives what the kernel gave. */
static bool reads_flat(const struct judging *j, struct lab_outcome *out)
{
    struct oracle_options how = j->options;
    how.worst_only = true;
    for (u32 i = 0; i < j->k->args.n && !out->likeness[0]; i++) {
        u32 n = 0;
        while (n < j->names && strcmp(j->name[n].name, j->k->args.p[i].name)) n++;
        if (n == j->names || !j->all[i].flat || !j->name[n].in) continue;
        struct oracle_result r = { 0 };
        struct error e = { 0 };
        const void *was = j->data[n];
        bool same = true;
        j->data[n] = j->all[i].flat;
        bool ok = oracle_evaluate(j->oracle, &how, j->data, &r, &e);
        j->data[n] = was;
        for (u32 k = 0; ok && k < r.n; k++) {
            struct oracle_judgement v;
            ok = oracle_judge(j->oracle, &r, k, &j->given[k], &v, &e);
            same &= ok && v.verdict == ORACLE_PASS;
        }
        oracle_result_free(&r);
        if (ok && same)
            snprintf(out->likeness, sizeof out->likeness, "%s is read as if it were dense: its strides are not used",
                     j->name[n].name);
    }
    const char *only = j->how->hints.only;
    if (out->likeness[0] && only && !oracle_same_words(only, out->likeness)) out->likeness[0] = 0;
    return out->likeness[0];
}

/* What the mistake looks like: of this case where that is asked for and sure. */
static enum oracle_label likeness(const struct judging *j, struct lab_outcome *out)
{
    struct oracle_explanation x = { 0 };
    struct error e = { 0 };
    if (j->how->likeness) return j->how->label;
    if (out->likeness[0]) return out->label; /* of an output before */
    if (!j->how->explain || oracle_cost(j->oracle) > CLASSIFY_MOST) return ORACLE_UNNAMED;
    if (!j->functions.n && reads_flat(j, out)) return out->label = ORACLE_PERMUTED;
    bool ok = oracle_classify_hinted(j->oracle, &j->options, j->data, j->given, &j->how->hints, &x, &e);
    out->met = x.met;
    out->named += x.spent;
    if (!ok || !x.sure) return ORACLE_UNNAMED;
    if (x.label == ORACLE_UNNAMED) return x.label;
    snprintf(out->likeness, sizeof out->likeness, "%s", x.what);
    snprintf(out->other, sizeof out->other, "%s", x.other);
    out->label = x.label;
    return x.label;
}

/* Where the bound at the worst element comes from: "55 % exp in softmax, 25 % div in softmax". */
static void reasons(const struct judging *j, u32 i, const struct oracle_judgement *v, struct text *out)
{
    struct oracle_term term[TERMS];
    struct error e = { 0 };
    struct arena mem = { 0 };
    const struct lab_function *f = function_of(&j->functions, oracle_output(j->oracle, i).name);
    const char *wider = j->k->tolerance > 1 ? "; made wider by `tolerance`" : "";
    if (f && j->how->tell && f->line->within.n)
        text_add(out, "  bound: within %.*s%s\n", (int)f->line->within.n, f->line->within.p, wider);
    else if (f && j->how->tell)
        text_add(out, "  bound: as %s:%s gives it%s\n", f->line->from, f->line->function, wider);
    if (f || !j->how->tell || !(v->bound > 0) || oracle_cost(j->oracle) > CLASSIFY_MOST) return;
    u32 n = oracle_why(j->oracle, &j->options, j->data, i, v->worst, term, TERMS, &mem, &e);
    for (u32 t = 0; t < n; t++)
        text_add(out, "%s%.0f %% %s", t ? ", " : "  bound: ", 100 * term[t].share, term[t].what);
    if (n) text_add(out, "%s\n", wider);
    arena_free(&mem);
}

/* Whether a line is about an output: "of y: ...", "y is ...". */
static bool is_about(struct str line, const char *output, u32 *skip)
{
    size_t n = strlen(output);
    *skip = 0;
    if (line.n > n + 5 && !memcmp(line.p, "of ", 3) && !memcmp(line.p + 3, output, n) && line.p[3 + n] == ':') {
        *skip = (u32)n + 5;
        return true;
    }
    return line.n > n + 4 && !memcmp(line.p, output, n) &&
           (!memcmp(line.p + n, " is ", 4) || !memcmp(line.p + n, " has ", 4));
}

/* Picks one output's line out of `lines`: its own, or else the line that names no output. */
static struct str like_of(const struct judging *j, u32 output, const char *lines)
{
    struct str common = { 0 };
    for (const char *p = lines; *p;) {
        struct str line = { p, (u32)strcspn(p, "\n") };
        bool other = false;
        u32 skip;
        p += line.n + (p[line.n] == '\n');
        for (u32 i = 0; i < oracle_outputs(j->oracle); i++) {
            bool about = is_about(line, oracle_output(j->oracle, i).name, &skip);
            if (about && i == output) return (struct str){ line.p + skip, line.n - skip };
            other |= about;
        }
        if (!other) common = line;
    }
    return common;
}

static void tell(const struct judging *j, u32 i, const struct oracle_judgement *v, bool noted, struct lab_outcome *out)
{
    struct oracle_output o = oracle_output(j->oracle, i);
    const struct lab_how *how = j->how;
    char worst[200], first[200];
    struct text cause = { 0 }, detail = { 0 };
    bool wrong = v->verdict == ORACLE_WRONG;
    u64 off = wrong ? v->wrong : v->suspect;
    enum oracle_label label = noted ? ORACLE_UNNAMED : likeness(j, out);
    index_text(&o.shape, v->worst, worst, sizeof worst);
    index_text(&o.shape, v->first, first, sizeof first);
    /* a NaN has no sign: machines differ in it */
    if (how->launch) text_add(&cause, "after launch %u on the same memory ", how->launch + 1);
    text_add(&cause, "%s%s is %.9g and should be %.9g, within %.3g", o.name, worst, isnan(v->got) ? NAN : v->got,
             isnan(v->value) ? NAN : v->value, v->bound);
    if (isfinite(v->ratio)) text_add(&cause, " (off by %.3g times that)", v->ratio);
    text_add(&cause, "; %" PRIu64 " of %" PRIu64 " elements are %s, the first %s%s", off, v->judged,
             noted   ? "numbers for NaN"
             : wrong ? "wrong"
                     : "suspect",
             o.name, first);
    if (v->unwritten) text_add(&cause, "; %" PRIu64 " were not written", v->unwritten);
    text_add(&detail, "  where: %s; %" PRIu64 " of %" PRIu64 " elements", v->place, off, v->judged);
    if (v->far > 0) text_add(&detail, ", by %.3g at most", v->far);
    if (v->share > 0) text_add(&detail, ", %.3g of the value at most", v->share);
    text_add(&detail, "\n");
    struct str like = noted ? (struct str){ 0 } : like_of(j, i, how->likeness ? how->likeness : out->likeness);
    if (like.n)
        text_add(&detail, "  looks like: %.*s%s%s%s\n", (int)like.n, like.p, how->likeness_of ? " (case " : "",
                 how->likeness_of ? how->likeness_of : "", how->likeness_of ? ")" : "");
    reasons(j, i, v, &detail);
    if (v->overflow + v->ill)
        text_add(&detail, "  not judged: %" PRIu64 " may overflow, %" PRIu64 " ill-conditioned\n", v->overflow, v->ill);
    lab_found(j->s, noted ? F_result_nan : kind_of(j, i, v, label), j->oracles->list.p[0].at, i, cause.p, detail.p);
    const char *what = is_special(j, v) ? "special" : how->launch ? "again" : "result";
    if (!noted && !out->first[0] && (wrong || how->twice))
        snprintf(out->first, sizeof out->first, "%s:%.60s", what, o.name);
    text_free(&cause);
    text_free(&detail);
}

/* Which outputs had an element that could be judged. An output without elements has none that could be wrong. */
static void note_seen(const struct judging *j, u32 i, u64 judged, struct lab_outcome *out)
{
    struct oracle_output o = oracle_output(j->oracle, i);
    u64 bit = (u64)1 << MIN_OF(i, 63u), elements = 1;
    for (u32 d = 0; d < o.shape.rank; d++) elements *= o.shape.dim[d];
    if (!elements) return;
    out->outputs |= bit;
    if (judged)
        out->seen |= bit;
    else if (!out->unseen[0])
        snprintf(out->unseen, sizeof out->unseen, "%s", o.name);
}

static bool judge_all(struct judging *j, struct lab_outcome *out, struct error *e)
{
    bool seen = true;
    for (u32 i = 0; i < j->result.n; i++) {
        struct oracle_judgement v;
        if (!oracle_judge(j->oracle, &j->result, i, &j->given[i], &v, e)) return false;
        out->judged = true;
        out->elements += v.judged;
        note_seen(j, i, v.judged, out);
        bool noted = passes_over_nan(j, i, &v);
        out->noted |= noted;
        out->wrong += noted ? 0 : v.wrong;
        if (v.wrong && !noted) out->bad |= (u64)1 << MIN_OF(i, 63u);
        out->overflow += v.overflow;
        out->ill += v.ill;
        if (!noted && !(v.ratio <= out->ratio)) out->ratio = v.ratio;
        if (v.verdict == ORACLE_SUSPECT && !out->suspect[0])
            snprintf(out->suspect, sizeof out->suspect, "%.60s", oracle_output(j->oracle, i).name);
        seen &= v.verdict == ORACLE_PASS || is_special(j, &v) || !v.not_finite;
        if (v.verdict != ORACLE_PASS) tell(j, i, &v, noted, out);
    }
    if (!out->wrong && j->how->explain && j->how->hints.only) likeness(j, out); /* it may contradict the name */
    /* NaN and infinities that the oracle has, too, or says nothing of, are no mistake; of others the result tells */
    if (seen) report_leave_out(j->s->gpu->device->report, CHECK_VALUES);
    return true;
}

/* Which argument an output of the text is, and what the kernel wrote there. */
static bool outputs_of(struct judging *j, const struct lab_data *data, struct error *e)
{
    const struct contract *all = &j->s->contract->read;
    u32 n = oracle_outputs(j->oracle);
    j->given = NEW_ARRAY(&j->mem, struct oracle_given, n + 1);
    for (u32 i = 0; i < n; i++) {
        struct oracle_output o = oracle_output(j->oracle, i);
        u32 a = 0;
        while (a < j->k->args.n && strcmp(j->k->args.p[a].name, o.name)) a++;
        if (a == j->k->args.n || j->k->args.p[a].kind != CONTRACT_BUFFER || j->k->args.p[a].flow == FLOW_IN)
            return error_at(e, ERR_INPUT, all->file, all->text, j->oracles->list.p[0].at,
                            "the oracle defines %.60s, which is not an output of %.60s", o.name, j->k->name);
        j->given[i].bytes = data[a].after;
        j->given[i].huge = j->c && has_contents(j->c, "huge");
        if (j->k->args.p[a].flow == FLOW_OUT) j->given[i].poison = lab_poison + 8 - j->k->args.p[a].shape.type->bytes;
    }
    return true;
}

/* Reads the oracle for the sizes that the contract is bound to. */
static bool open_oracle(struct judging *j, const struct lab_data *data, struct error *e)
{
    const struct contract *all = &j->s->contract->read;
    if (!functions_of(&j->mem, all, &j->s->contract->bound, j->oracles, &j->functions, e)) return false;
    u32 n = names_of(j, data);
    j->oracle = oracle_new(&j->mem, j->name, n);
    bool ok = !j->k->accumulate || oracle_options_read(&j->options, all->file, all->text, j->k->accumulate_at, e);
    j->options.looser = j->k->tolerance;
    for (u32 i = 0; ok && i < j->oracles->list.n; i++) {
        const struct contract_text *line = &j->oracles->list.p[i];
        if (line->source || (j->forward && strstr(line->text, "grad("))) continue;
        ok = oracle_read(j->oracle, all->file, all->text, (struct str){ line->at, (u32)strlen(line->text) }, e);
    }
    for (u32 i = 0; ok && i < j->functions.n; i++) {
        struct lab_function *f = &j->functions.p[i];
        struct str text = str_of(arena_printf(&j->mem, "%s = %s", f->name, f->hidden));
        ok = oracle_read(j->oracle, all->file, text, text, e) &&
             functions_within(&j->mem, all, j->name, j->data, j->names, f, false, e);
    }
    return ok && outputs_of(j, data, e);
}

/* Values, and the bounds of those that functions have said. */
static bool evaluate(struct judging *j, struct lab_outcome *out, struct error *e)
{
    bool failed = false, ok = true;
    u64 elements = 0;
    for (u32 i = 0; j->functions.n && i < j->names; i++) {
        u64 n = 1;
        for (u32 d = 0; d < j->name[i].shape.rank; d++) n *= j->name[i].shape.dim[d];
        elements += n;
    }
    if (elements > OUTSIDE_ELEMENTS) {
        out->end = LAB_LARGE;
        return true;
    }
    if (j->functions.n) ok = functions_ask(j->s, j->oracles, j->name, j->data, j->names, &j->functions, &failed, e);
    for (u32 i = 0; ok && !failed && i < j->functions.n; i++)
        ok = functions_within(&j->mem, &j->s->contract->read, j->name, j->data, j->names, &j->functions.p[i], true, e);
    if (!ok || failed) return ok;
    if (!oracle_evaluate(j->oracle, &j->options, j->data, &j->result, e)) return false;
    functions_widen(&j->functions, j->k->tolerance, j->oracle, &j->result);
    return judge_all(j, out, e);
}

void lk_contract_oracle_read(lk_contract *contract)
{
    HOST_CALL(/* nothing */, USE(CONTRACT, contract));
    if (!contract->kernel) return;
    struct lab_subject s = { .contract = contract, .gpu = contract->gpu };
    struct judging j = { .s = &s, .how = &(struct lab_how){ 0 }, .k = contract->bound.kernel };
    struct error e = { 0 };
    j.oracles = lab_oracles(&contract->read, j.k, &j.forward);
    struct lab_data *data = NEW_ARRAY(&j.mem, struct lab_data, j.k->args.n + 1);
    if (j.oracles && !open_oracle(&j, data, &e)) {
        struct text cause = { 0 };
        text_add(&cause, "%s%s%s", e.where, e.where[0] ? ": " : "", e.text);
        lab_found(&s, F_oracle_unread, j.oracles->list.p[0].at, 0, cause.p, NULL);
        text_free(&cause);
    }
    arena_free(&j.mem);
}

bool lab_cost(struct lab_subject *s, double *cost, struct error *e)
{
    struct judging j = { .s = s, .how = &(struct lab_how){ 0 }, .k = s->contract->bound.kernel };
    struct error large = { 0 };
    j.oracles = lab_oracles(&s->contract->read, j.k, &j.forward);
    *cost = 0;
    if (!j.oracles) return true;
    struct lab_data *data = NEW_ARRAY(&j.mem, struct lab_data, j.k->args.n + 1);
    bool ok = open_oracle(&j, data, &large);
    *cost = ok ? oracle_cost(j.oracle) : INFINITY;
    if (!ok && (!j.oracle || large.code != ERR_UNSUPPORTED)) *e = large;
    arena_free(&j.mem);
    return !e->code;
}

bool lab_judges(const struct lab_subject *s)
{
    struct check_choice c = { .checks = CHECK_ALL };
    struct error unread = { 0 }; /* whoever makes a gpu of the options says so */
    if (!checks_choose(s->options.check, s->options.no_check, &c, &unread)) return true;
    bool all = c.checks & CHECK_ORACLE; /* results of which some kinds of mistakes are left out are not judged */
    for (u32 k = 0; k < F_COUNT; k++) all &= finding_check(k) != CHECK_ORACLE || !(c.off[k / 64] >> k % 64 & 1);
    return all;
}

bool lab_checks(const struct lab_subject *s)
{
    struct check_choice c = { .checks = CHECK_ALL };
    struct error unread = { 0 };
    return !checks_choose(s->options.check, s->options.no_check, &c, &unread) || c.checks & ~CHECK_ORACLE;
}

bool lab_judge(struct lab_subject *s, const struct contract_case *c, const struct lab_data *data,
               const struct lab_how *how, struct lab_outcome *out, struct error *e)
{
    struct judging j = { .s = s, .how = how, .c = c, .k = s->contract->bound.kernel };
    j.oracles = lab_oracles(&s->contract->read, j.k, &j.forward);
    if (!j.oracles || !lab_judges(s)) {
        /* a kernel that is given NaN, infinities or numbers near overflow may pass them on */
        if (has_odd_contents(c)) report_leave_out(s->gpu->device->report, CHECK_VALUES);
        return true;
    }
    j.all = data;
    bool ok = open_oracle(&j, data, e);
    j.options.seed = c->seed;
    if (ok) ok = evaluate(&j, out, e);
    oracle_result_free(&j.result);
    arena_free(&j.mem);
    return ok;
}
