/* Cases made of those that reached something new: one or two things of them are changed (coverage guides; lab_cover.c
 * says what is counted). A case counts for the making of others only REACHED_LATER cases after it, however early its
 * outcome is known: so what is made does not depend on how many run at a time. */
#include "lab/lab.h"

enum { CHANGES = 6, RANDOM_MOST = 300 };

static u64 draw(u64 *state, u64 below) { return below ? rand_next(state) % below : 0; }

static void set(struct choice_value *list, u32 *n, u32 most, const char *name, const char *value)
{
    u32 i = 0;
    while (i < *n && strcmp(list[i].name, name)) i++;
    if (!value && i < *n) list[i] = list[--*n]; /* as the contract has it */
    if (!value || i == most) return;
    if (i == *n) ++*n;
    list[i] = (struct choice_value){ name, value };
}

/* Another size: a step beside it, twice, half, any. */
static void change_size(const struct contract_kernel *k, const struct lab_reached *from, u64 *state,
                        struct contract_case *out)
{
    u32 n = MIN_OF(k->dims.n, from->dims), i = (u32)draw(state, n), d = 0;
    for (u32 tries = 0; tries < n && !lab_size_varies(&k->dims.p[i]); tries++) i = (i + 1) % n;
    if (!n || !lab_size_varies(&k->dims.p[i])) return;
    s64 v = from->dim[i], sizes[] = { v + 1, v - 1, 2 * v, v / 2, 1 + (s64)draw(state, RANDOM_MOST) };
    v = lab_size_fitted(&k->dims.p[i], sizes[draw(state, COUNT_OF(sizes))]);
    while (d < out->dims && strcmp(out->dim[d].name, k->dims.p[i].name)) d++;
    if (d == CONTRACT_DIMS) return;
    if (d == out->dims) out->dims++;
    out->dim[d] = (struct dim_value){ k->dims.p[i].name, v };
}

static void change_choice(const struct contract_kernel *k, u64 *state, struct contract_case *out)
{
    if (!k->choices.n) return;
    const struct contract_choice *c = &k->choices.p[draw(state, k->choices.n)];
    u32 v = (u32)draw(state, c->value.n);
    set(out->choice, &out->choices, CONTRACT_CHOICES, c->name, v == c->chosen ? NULL : c->value.p[v]);
}

static void change_layout(const struct contract_kernel *k, u64 *state, struct contract_case *out)
{
    if (!k->args.n) return;
    const struct contract_arg *g = &k->args.p[draw(state, k->args.n)];
    u32 n = 0;
    while (lab_layout(g, n)) n++;
    if (n) set(out->layout, &out->layouts, CASE_ARRAYS, g->name, lab_layout(g, (u32)draw(state, n + 1)));
}

static void change_contents(const struct contract_kernel *k, u64 *state, struct contract_case *out)
{
    if (!k->args.n) return;
    const struct contract_arg *g = &k->args.p[draw(state, k->args.n)];
    u32 word = (u32)draw(state, FILL_WORDS + 1);
    if (word == FILL_WORDS)
        set(out->contents, &out->contentses, CASE_ARRAYS, g->name, NULL);
    else if (case_may_fill(g, word))
        set(out->contents, &out->contentses, CASE_ARRAYS, g->name, fill_word_name(word));
}

/* Sizes decide most branches: every second change is one of them. */
void lab_change(const struct contract_kernel *k, const struct lab_reached *from, u64 *state, struct contract_case *out)
{
    *out = from->c;
    for (u64 n = 1 + draw(state, 2); n > 0; n--) switch (draw(state, CHANGES)) {
        case 0: change_choice(k, state, out); break;
        case 1: change_layout(k, state, out); break;
        case 2: change_contents(k, state, out); break;
        default: change_size(k, from, state, out); break;
        }
}
