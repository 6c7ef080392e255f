/* Two kernels on the same inputs. The other one is launched by its own contract, where its file has one: dims, types
 * and constants of the same names have the values of the case, arrays of the same names the same elements. Without one
 * the contract is that of the first. */
#include "lab/campaign.h"
#include <inttypes.h>
#include <math.h>

bool against_open(struct lk_test *t, struct tested *k, struct error *e)
{
    struct str text;
    struct contract *c = NEW(&t->mem, struct contract);
    const char *path = t->o->against, *name = t->o->against_kernel ? t->o->against_kernel : k->is.name;
    size_t n = strcspn(name, "<");
    if (!path) return true;
    k->other.other = path;
    k->other.other_kernel = t->o->against_kernel;
    if (!file_read(path, &text, e)) return false;
    struct str copy = { arena_str(&t->mem, text), text.n };
    base_free((void *)text.p);
    if (!contract_parse(&t->mem, path, copy, c, e)) return false;
    for (u32 i = 0; i < c->kernels.n && !k->other_k; i++) {
        const char *is = c->kernels.p[i].name;
        if (strcspn(is, "<") != n || strncmp(is, name, n)) continue;
        k->other_k = &c->kernels.p[i];
        k->other.path = path;
        k->other.text = copy;
        k->other.block = i;
        k->other.kernel = is;
        k->other.other = k->other.other_kernel = NULL;
    }
    return true;
}

/* The value that a kernel has for a choice in a case. */
static const char *chosen(const struct contract_choice *ch, const struct contract_case *c)
{
    for (u32 i = 0; i < c->choices; i++)
        if (!strcmp(c->choice[i].name, ch->name)) return c->choice[i].value;
    return ch->value.p[ch->chosen];
}

static bool takes_layout(const struct contract_kernel *k, const struct choice_value *l)
{
    for (u32 i = 0; i < k->args.n; i++) {
        const char *one;
        if (strcmp(k->args.p[i].name, l->name)) continue;
        for (u32 v = 0; (one = lab_layout(&k->args.p[i], v)); v++)
            if (!strcmp(one, l->value)) return true;
    }
    return false;
}

/* Whether an array may be filled so: the contract of the other kernel may promise what that one does not. */
static bool takes_contents(const struct contract_kernel *k, const struct choice_value *v)
{
    u32 word = 0;
    while (word < FILL_WORDS && strcmp(fill_word_name(word), v->value)) word++;
    for (u32 i = 0; i < k->args.n; i++)
        if (!strcmp(k->args.p[i].name, v->name)) return word < FILL_WORDS && case_may_fill(&k->args.p[i], word);
    return true;
}

/* The case of the first kernel, whose sizes came to those of x, as one of the other's. false: it has no such case. */
static bool translate(const struct tested *k, const struct contract_case *c, const struct lab_outcome *x,
                      struct contract_case *out)
{
    const struct contract_kernel *a = k->k, *b = k->other_k;
    const struct contract_choice *ch;
    *out = (struct contract_case){ .seed = c->seed, .order = c->order };
    for (u32 i = 0; i < b->dims.n; i++)
        for (u32 d = 0; d < MIN_OF(a->dims.n, x->dims) && lab_size_varies(&b->dims.p[i]); d++)
            if (!strcmp(a->dims.p[d].name, b->dims.p[i].name))
                out->dim[out->dims++] = (struct dim_value){ b->dims.p[i].name, x->dim[d] };
    for (u32 i = 0; i < a->choices.n; i++) {
        const char *name = a->choices.p[i].name, *value = chosen(&a->choices.p[i], c);
        if (!lab_config_taken(b, str_of(name), str_of(value), &ch) || !strcmp(ch->value.p[ch->chosen], value)) continue;
        out->choice[out->choices++] = (struct choice_value){ name, value };
    }
    for (u32 i = 0; i < c->layouts; i++)
        if (takes_layout(b, &c->layout[i])) out->layout[out->layouts++] = c->layout[i];
    for (u32 i = 0; i < c->contentses; i++)
        if (!takes_contents(b, &c->contents[i])) return false;
    return true;
}

struct difference {
    double most, at_a, at_b;
    u64 index, count, elements;
    u32 argument;
};

static u64 elements_of(const struct lab_kept *k, u32 i)
{
    u64 n = 1;
    for (u32 x = 0; x < k->shape[i].rank; x++) n *= k->shape[i].dim[x];
    return n;
}

/* The output of this name; b->n: there is none of that type and size. */
static u32 same_output(const struct lab_kept *a, u32 i, const struct lab_kept *b)
{
    u32 j = 0;
    while (j < b->n && (b->type[j] != a->type[i] || strcmp(a->name[i], b->name[j]))) j++;
    return j < b->n && elements_of(a, i) == elements_of(b, j) ? j : b->n;
}

static bool compare_outputs(struct lk_test *t, const struct lab_kept *a, const struct lab_kept *b, struct difference *d,
                            struct error *e)
{
    double within = t->o->within;
    for (u32 i = 0; i < a->n; i++) {
        const struct scalar *type = a->type[i];
        u32 j = type ? same_output(a, i, b) : 0;
        if (type && j == b->n)
            return error_set(e, ERR_INPUT, "%.200s: its contract has no output %s of %s with as many elements",
                             t->o->against, a->name[i], type->name);
        for (u64 x = 0, n = type ? elements_of(a, i) : 0; x < n; x++) {
            const u8 *p = a->data[i].after + x * type->bytes, *q = b->data[j].after + x * type->bytes;
            double v = scalar_load(type, p), w = scalar_load(type, q), off = fabs(v - w);
            d->elements++;
            if (!memcmp(p, q, type->bytes) || (isnan(v) && isnan(w))) continue;
            if (isnan(off)) off = INFINITY;
            if (off > within * fmax(fabs(v), fabs(w))) d->count++;
            if (off <= d->most && d->most > 0) continue;
            d->most = off;
            d->at_a = v;
            d->at_b = w;
            d->index = x;
            d->argument = i;
        }
    }
    return true;
}

/* Both kernels on one case. *y: how the other one ended. */
static bool run_both(struct tested *k, const struct contract_case *c, struct lab_kept *a, struct lab_kept *b,
                     struct lab_outcome *y, struct error *e)
{
    struct lab_outcome x;
    struct contract_case its = *c;
    if (!lab_run(&k->subject, c, &(struct lab_how){ .keep = a, .plain = true }, &x, e)) return false;
    *y = (struct lab_outcome){ .end = LAB_REFUSED, .why = "its contract promises other contents" };
    if (k->other_k && !translate(k, c, &x, &its)) return true;
    return lab_run(&k->other, &its, &(struct lab_how){ .keep = b, .inputs = a }, y, e);
}

/* What is told of a case in which they differ. */
static void tell_difference(struct lk_test *t, struct tested *k, const struct lab_outcome *y,
                            const struct difference *d, const char *line)
{
    char cause[400];
    if (y->end == LAB_FAILED)
        snprintf(cause, sizeof cause, "%.200s fails on a case that %.60s passes: %s", t->o->against, k->is.name,
                 y->first);
    else
        snprintf(cause, sizeof cause,
                 "%" PRIu64 " of %" PRIu64
                 " elements differ from those of %.200s; the largest difference is %.3g: %s[%" PRIu64
                 "] is %.9g, and %.9g there",
                 d->count, d->elements, t->o->against, d->most, k->k->args.p[d->argument].name, d->index, d->at_a,
                 d->at_b);
    lk_report_clear(k->subject.gpu);
    lab_found(&k->subject, F_results_differ, k->subject.contract->bound.kernel->at, 0, cause, NULL);
    count_failure(t, k, "against", "results_differ", line);
}

bool hold_against(struct lk_test *t, struct tested *k, struct error *e)
{
    struct lab_kept a = { 0 }, b = { 0 };
    bool ok = true, forward, judged = lab_oracles(&t->read, k->k, &forward) && lab_judges(&k->subject);
    const char *refusal = NULL;
    for (u32 i = 0; ok && t->o->against && i < k->list.n; i++) {
        struct contract_case c;
        struct lab_outcome y;
        struct difference d = { 0 };
        if (k->list.p[i].end != LK_TEST_PASSED || !case_read(&t->mem, k->k, k->list.p[i].line, &c, e)) continue;
        ok = run_both(k, &c, &a, &b, &y, e);
        if (ok && y.end != LAB_PASSED && y.end != LAB_FAILED && !refusal) refusal = arena_str(&t->mem, str_of(y.why));
        if (!ok || (y.end != LAB_PASSED && y.end != LAB_FAILED)) continue; /* no case of the other one */
        bool fails = y.end == LAB_FAILED;
        ok = fails || compare_outputs(t, &a, &b, &d, e);
        if (d.most > k->is.difference) k->is.difference = d.most;
        k->is.compared++;
        if (!ok || (!fails && (!d.count || (judged && !(t->o->within > 0))))) continue;
        tell_difference(t, k, &y, &d, k->list.p[i].line);
        break;
    }
    if (ok && refusal && !k->is.compared)
        ok = error_set(e, ERR_INPUT, "%.200s takes none of the cases of %.60s: %.200s", t->o->against, k->is.name,
                       refusal);
    lab_kept_free(&a);
    lab_kept_free(&b);
    return ok;
}
