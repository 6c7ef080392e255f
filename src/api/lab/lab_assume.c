/* What a contract assumes of the contents of a case: `assume EXPR` lines, in the language of oracles. A case whose
 * contents are others is not run, and counted. */
#include "lab/lab.h"

/* The arrays, values and sizes that a line may speak of. */
static u32 names_of(struct arena *mem, const struct bound *b, const struct lab_data *data, struct oracle_name **name,
                    const void ***at)
{
    const struct contract_kernel *k = b->kernel;
    u32 n = 0, most = k->args.n + k->dims.n + k->settings.list.n + 1;
    *name = NEW_ARRAY(mem, struct oracle_name, most);
    *at = NEW_ARRAY(mem, const void *, most);
    for (u32 i = 0; i < k->args.n; i++) {
        const struct contract_arg *g = &k->args.p[i];
        bool array = g->kind == CONTRACT_BUFFER;
        if ((g->kind != CONTRACT_VALUE && !array) || (array && g->flow == FLOW_OUT)) continue;
        struct oracle_name *to = &(*name)[n];
        *to = (struct oracle_name){ .name = g->name, .in = true };
        if (array) {
            to->type = g->shape.type;
            to->shape.rank = g->shape.rank;
            memcpy(to->shape.dim, b->arg[i].shape.dim, sizeof to->shape.dim);
            (*at)[n] = data[i].before;
        } else {
            to->value = scalar_load(g->shape.type, b->arg[i].value);
        }
        n++;
    }
    for (u32 i = 0; i < k->dims.n + k->settings.list.n; i++) {
        const struct setting *s = i < k->dims.n ? NULL : &k->settings.list.p[i - k->dims.n];
        const char *is = s ? s->name : k->dims.p[i].name;
        bool there = s && s->type;
        for (u32 x = 0; x < n; x++) there |= !strcmp((*name)[x].name, is);
        if (!there)
            (*name)[n++] =
                (struct oracle_name){ .name = is, .value = s ? (double)s->value : (double)b->value[i].i, .in = true };
    }
    return n;
}

bool lab_assumed(struct lab_subject *s, const struct lab_data *data, bool *holds, struct error *e)
{
    const struct contract *all = &s->contract->read;
    const struct contract_texts *lines = &s->contract->bound.kernel->assumes;
    struct arena mem = { 0 };
    struct oracle_name *name = NULL;
    const void **at = NULL;
    *holds = true;
    u32 n = lines->list.n ? names_of(&mem, &s->contract->bound, data, &name, &at) : 0;
    for (u32 i = 0; i < lines->list.n && *holds && !e->code; i++) {
        const struct contract_text *line = &lines->list.p[i];
        struct oracle_options how = { .worst_only = true };
        struct oracle_result r = { 0 };
        struct oracle *o = oracle_new(&mem, name, n);
        if (oracle_read(o, all->file, all->text, (struct str){ line->at, (u32)strlen(line->text) }, e) &&
            oracle_evaluate(o, &how, at, &r, e))
            for (u64 x = 0; r.n && x < r.array[r.n - 1].count; x++) *holds &= r.array[r.n - 1].value[x] > 0;
        oracle_result_free(&r);
    }
    arena_free(&mem);
    return !e->code;
}
