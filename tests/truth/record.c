/* Recording, and the other verbs that need no crew: what a GPU computes for every variant, into a file; putting files
 * together; looking into them. */
#include "truth.h"
#include <stdlib.h>

static bool record_all(struct arena *a, struct runner *r, const struct variant *v, struct record *out, struct error *e)
{
    u32 bits = MIN_OF(all_bits(v), (u32)ALL_BLOCK_BITS);
    out->alls = 1u << (all_bits(v) - bits);
    out->all = NEW_ARRAY(a, u64, out->alls);
    out->spot = NEW_ARRAY(a, u64, out->alls);
    for (u32 k = 0; k < out->alls; k++)
        if (!runner_hash(r, (u64)k << bits, bits, &out->all[k], e) ||
            !runner_hash(r, spot_first(v, k), SPOT_BITS, &out->spot[k], e))
            return false;
    return true;
}

static bool record_random(struct arena *a, struct runner *r, const struct variant *v, struct record *out,
                          struct error *e)
{
    u32 bytes = register_bytes(v->result);
    const u8 *got = runner_random(r, 1u << RANDOM_BITS, e);
    if (!got) return false;
    out->random = NEW_ARRAY(a, u64, RANDOM_BLOCKS);
    for (u32 k = 0; k < RANDOM_BLOCKS; k++) {
        u32 first = k << RANDOM_BLOCK_BITS;
        out->random[k] = hash_array(got + (size_t)first * bytes, bytes, first, 1u << RANDOM_BLOCK_BITS);
    }
    return true;
}

static bool record_one(struct arena *a, struct runner *r, const struct variant *v, struct record *out, struct error *e)
{
    struct error refusal = { 0 };
    *out = (struct record){ .result_bytes = register_bytes(v->result) };
    memcpy(out->name, v->name, sizeof out->name);
    if (!runner_load(r, v, &refusal)) {
        printf("%s: refused: %s\n", v->name, refusal.text);
        out->refused = true;
        return true;
    }
    const void *got = runner_edges(r, e);
    if (!got) return false;
    out->edges = edge_count(v);
    out->edge = NEW_ARRAY(a, u8, (size_t)out->edges * out->result_bytes);
    memcpy(out->edge, got, (size_t)out->edges * out->result_bytes);
    return (!v->all || record_all(a, r, v, out, e)) && record_random(a, r, v, out, e);
}

int record(struct job *j, const char *path, struct error *e)
{
    struct error none = { 0 };
    if (j->again || !records_load(&j->mem, path, &j->records, &none)) j->records = (struct records){ 0 };
    struct runner *r = runner_new(&j->mem, j->on, e);
    if (!r) return 2;
    snprintf(j->records.device, sizeof j->records.device, "%s", runner_title(r));
    u32 made = 0;
    u64 t0 = time_ns();
    for (u32 i = 0; i < j->variants.n; i++) {
        const struct variant *v = &j->variants.p[i];
        if (records_find(&j->records, v->name) || !job_wants(j, v->name) || i % j->parts != j->part) continue;
        struct record *one = NEW(&j->mem, struct record);
        if (!record_one(&j->mem, r, v, one, e)) {
            fprintf(stderr, "%s: ", v->name);
            return 2;
        }
        VEC_PUSH(&j->mem, &j->records, one);
        made++;
    }
    runner_delete(r);
    printf("truth: %u recorded on %s in %.1f s, %u in all\n", made, j->records.device, (double)(time_ns() - t0) / 1e9,
           j->records.n);
    return records_save(path, &j->records, e) ? 0 : 2;
}

static const struct variant *find(const struct job *j, const char *name)
{
    for (u32 i = 0; i < j->variants.n; i++)
        if (!strcmp(j->variants.p[i].name, name)) return &j->variants.p[i];
    return NULL;
}

/* The results of n inputs from `first` on, one after the other or `step` apart, as they are, into a file. */
int raw(struct job *j, const char *path, struct error *e)
{
    const struct variant *v = j->onlys ? find(j, j->only[0]) : NULL;
    /* first, n, step; step 0: counted through by the kernel, which needs no memory for them */
    u64 number[3] = { 0 };
    for (int i = 0; i < 3 && i + 1 < j->onlys; i++) number[i] = strtoull(j->only[i + 1], NULL, 0);
    u64 first = number[0], n = number[1], step = number[2], each = COUNT_BLOCK * COUNT_EACH;
    u64 most = 1ull << (strcmp(j->on, "gpu") || step ? RANDOM_BITS : ALL_BLOCK_BITS);
    if (!v || v->sources != 1 || !(v->all || step) || !n || n > most || (!step && n % each))
        return error_set(e, ERR_INPUT,
                         "raw takes FILE NAME FIRST COUNT [STEP]: a form of one operand (of 64 bits: with STEP), at "
                         "most %llu inputs, without STEP a multiple of %llu",
                         (unsigned long long)most, (unsigned long long)each),
               2;
    struct runner *r = runner_new(&j->mem, j->on, e);
    const void *p = !r || !runner_load(r, v, e) ? NULL
                    : step                      ? runner_steps(r, first, step, (u32)n, e)
                                                : runner_all(r, first, (u32)n, e);
    bool ok = p && file_write(path, p, n * register_bytes(v->result), e);
    if (r) runner_delete(r);
    return ok ? 0 : 2;
}

/* The records of several files into one; what the first has stays. */
int merge(struct job *j, const char *path, struct error *e)
{
    struct records all = { 0 };
    for (int i = 0; i < j->onlys; i++) {
        if (!records_load(&j->mem, j->only[i], &j->records, e)) return 2;
        memcpy(all.device, j->records.device, sizeof all.device);
        for (u32 k = 0; k < j->records.n; k++)
            if (!records_find(&all, j->records.p[k]->name)) VEC_PUSH(&j->mem, &all, j->records.p[k]);
    }
    return records_save(path, &all, e) ? 0 : 2;
}

static void show_one(const struct record *r, const struct variant *v)
{
    char text[400];
    if (r->refused || !v || edge_count(v) != r->edges) {
        printf("%s: %s\n", r->name, r->refused ? "refused by ptxas" : "no form of this program");
        return;
    }
    for (u32 i = 0; i < r->edges; i++) {
        print_operands(v, edge_value, i, text, sizeof text);
        printf("%s %s = 0x%0*llx\n", r->name, text, (int)r->result_bytes * 2,
               (unsigned long long)element(r->edge, r->result_bytes, i));
    }
}

int show(struct job *j, const char *path, struct error *e)
{
    if (!records_load(&j->mem, path, &j->records, e)) return 2;
    for (u32 i = 0; i < j->records.n; i++)
        if (j->onlys ? job_wants(j, j->records.p[i]->name) : true)
            show_one(j->records.p[i], find(j, j->records.p[i]->name));
    return 0;
}

/* How long each row takes on the software GPU, on this machine: its slowest form with no modifier, for `lockstep isa
 * --markdown`. */
int times(struct job *j, const char *path, struct error *e)
{
    struct runner *r = runner_new(&j->mem, "sim", e);
    struct text t = { 0 };
    const char *row = "";
    double worst = 0;
    text_add(&t, "# ns a warp instruction of the software GPU, one processor, unchecked: row, ns. Made by `truth "
                 "times`; docs/reference/isa.md shows it.\n");
    for (u32 i = 0; r && i <= j->variants.n; i++) {
        const struct variant *v = i < j->variants.n ? &j->variants.p[i] : NULL;
        const char *id = v ? isa_forms[v->form].id : "";
        if (strcmp(id, row) && worst > 0) text_add(&t, "%s %.1f\n", row, worst);
        if (strcmp(id, row))
            row = id, worst = 0;
        else if (v && v->form == v[-1].form)
            continue; /* the first spelling of a form stands for it */
        if (v && j->onlys && !job_wants(j, v->name)) continue;
        struct error none = { 0 };
        double ns = v ? runner_time(r, v, &none) : 0;
        worst = MAX_OF(worst, ns);
    }
    bool ok = r && file_write(path, t.p, t.n, e);
    text_free(&t);
    if (r) runner_delete(r);
    return ok ? 0 : 2;
}
