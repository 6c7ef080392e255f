/* truth: records what a real GPU computes for every lane form of isa.def, and replays it on the software GPU.
 *
 *   truth list [--ptx NAME]                 the variants; or the PTX of one
 *   truth record FILE [--again] [--on sim]  on the GPU of this machine: what FILE lacks (or everything), into FILE; --on sim records
 *                                           the software GPU itself, for testing this program
 *                                           --part K/N: every N-th variant from K on, so that several processes share the work
 *   truth merge FILE FROM...                the records of several files into FILE
 *   truth replay FILE [--quick] [--raw] [--all-verdicts] [NAME...]
 *       every record against the software GPU, on all processors. --quick: edges, a part of the random inputs, one block of all.
 *       --every: every edge that differs, not the first only. --raw: what differs is fetched from the GPU of this machine, value by value.
 *   truth raw FILE NAME FIRST COUNT [STEP]  the results of COUNT inputs from FIRST on into FILE, from the GPU (--on sim: from ours);
 *                                           with STEP (of 1, too) any form of one operand, at most 2^20 inputs
 *
 * Exit 0: all agree; 1: differences; 2: bad input; 4: nothing was compared. */
#include "truth.h"
#include <stdlib.h>

struct verdict {                /* of one variant */
    const struct record *record;        /* NULL: not recorded */
    bool failed;
    bool known;                 /* differs, as it is known to */
    bool near;                  /* within the bound of an approximate form */
    int random, all;            /* first block that differs, -1: none */
    u32 edges, randoms, alls;   /* how many differ */
    char text[400];             /* the first difference */
};

struct allowance { char name[VARIANT_NAME]; u32 ulp; };
struct allowances { struct allowance *p; u32 n, cap; };

struct job {
    struct arena mem;
    struct variants variants;
    struct records records;
    struct verdict *verdict;
    struct allowances near, known;      /* approximate forms; forms that are known to differ */
    bool quick, raw, show_all, every;
    u32 part, parts;            /* --part K/N: every N-th variant, from K on */
    char **only; int onlys;
    u32 next;                   /* atomic: the next variant to look at */
};

static u64 element(const void *p, u32 bytes, u64 i)
{
    u64 v = 0;
    memcpy(&v, (const u8 *)p + i * bytes, bytes);
    return v;
}

/* Distance in units of the last place; 0 for two NaNs, huge for one. */
static u64 ulps(enum ptx_type t, u64 a, u64 b)
{
    u32 bits = type_size[t] * 8;
    u64 sign = 1ull << (bits - 1), inf = t == T_F32 ? 0x7f800000u : t == T_F64 ? 0x7ff0000000000000u : t == T_F16 ? 0x7c00 : 0x7f80;
    bool na = (a & ~sign) > inf, nb = (b & ~sign) > inf;
    if (na || nb)
        return na && nb ? 0 : UINT64_MAX;
    s64 x = a & sign ? -(s64)(a & ~sign) : (s64)a, y = b & sign ? -(s64)(b & ~sign) : (s64)b;
    return x > y ? (u64)(x - y) : (u64)(y - x);
}

static bool is_scalar_float(enum ptx_type t)
{
    return t == T_F32 || t == T_F64 || t == T_F16 || t == T_BF16;
}

/* "a=0x3f800000 b=0x1: expected 0x2, got 0x3" */
static void difference(const struct variant *v, u64 (*value)(const struct variant *, u32, u32), u64 i, u64 want, u64 got, char *out, size_t size)
{
    size_t n = 0;
    for (u32 s = 0; s < v->sources; s++) {
        u32 w = register_bytes(v->source[s]) * 2;
        u64 x = value ? value(v, s, (u32)i) : i;
        n += (size_t)snprintf(out + n, size - n, "%s%c=0x%0*llx", s ? " " : "", "abce"[s], (int)w,
                              (unsigned long long)(w == 16 ? x : x & ((1ull << w * 4) - 1)));
    }
    int w = (int)register_bytes(v->result) * 2;
    snprintf(out + n, size - n, ": expected 0x%0*llx, got 0x%0*llx", w, (unsigned long long)want, w, (unsigned long long)got);
}

static u32 listed(const struct allowances *list, const struct variant *v)
{
    for (u32 i = 0; i < list->n; i++)
        if (!strcmp(list->p[i].name, v->name))
            return list->p[i].ulp;
    return 0;
}

static bool replay_edges(struct runner *r, const struct variant *v, struct verdict *d, u32 allowed, bool every, struct error *e)
{
    const struct record *rec = d->record;
    u32 bytes = register_bytes(v->result), n = edge_count(v);
    const void *got = runner_edges(r, e);
    if (!got || rec->edges != n || rec->result_bytes != bytes)
        return error_set(e, ERR_INPUT, "the record has %u edges of %u bytes, %u of %u are wanted", rec->edges, rec->result_bytes, n, bytes);
    for (u32 i = 0; i < n; i++) {
        u64 x = element(rec->edge, bytes, i), y = element(got, bytes, i);
        if (x == y || allowed == UINT32_MAX || (allowed && is_scalar_float(v->result) && ulps(v->result, x, y) <= allowed))
            continue;
        char text[sizeof d->text];
        difference(v, edge_value, i, x, y, text, sizeof text);
        if (!d->edges++)
            memcpy(d->text, text, sizeof text);
        if (every)
            printf("%s %s\n", v->name, text);
    }
    return true;
}

static bool replay_random(struct runner *r, const struct variant *v, struct verdict *d, bool quick, struct error *e)
{
    u32 bytes = register_bytes(v->result), blocks = quick ? QUICK_BLOCKS : RANDOM_BLOCKS;
    const u8 *got = d->record->random ? runner_random(r, blocks << RANDOM_BLOCK_BITS, e) : NULL;
    for (u32 k = 0; got && k < blocks; k++) {
        u64 first = (u64)k << RANDOM_BLOCK_BITS, n = 1u << RANDOM_BLOCK_BITS;
        if (hash_array(got + first * bytes, bytes, first, n) != d->record->random[k] && !d->randoms++)
            d->random = (int)k;
    }
    return got || !d->record->random;
}

static bool replay_all(struct runner *r, const struct variant *v, struct verdict *d, bool quick, struct error *e)
{
    u32 n = d->record->alls, from = 0, to = n;
    if (quick && n) {           /* one block, another for another form; where there are random inputs, for some forms only */
        u64 pick = str_hash(str_of(v->name));
        from = (u32)(pick % n);
        to = from + ((pick >> 32) % QUICK_FORMS == 0);
    }
    for (u32 k = from; k < to; k++) {
        u64 hash;
        if (!runner_all_hash(r, k, &hash, e))
            return false;
        if (hash != d->record->all[k] && !d->alls++)
            d->all = (int)k;
    }
    return true;
}

static void replay_one(struct job *j, struct runner *r, u32 i)
{
    const struct variant *v = &j->variants.p[i];
    struct verdict *d = &j->verdict[i];
    struct error e = { 0 };
    u32 allowed = listed(&j->near, v);
    bool ok = runner_load(r, v, &e) && replay_edges(r, v, d, allowed, j->every, &e);
    d->near = allowed != 0;
    if (ok && !allowed)
        ok = replay_random(r, v, d, j->quick, &e) && replay_all(r, v, d, j->quick, &e);
    if (!ok)
        snprintf(d->text, sizeof d->text, "cannot run: %.300s", e.text);
    d->failed = !ok || d->edges || d->randoms || d->alls;
    d->known = ok && d->failed && listed(&j->known, v);
    d->failed &= !d->known;
}

static void *worker(void *p)
{
    struct job *j = p;
    struct arena mem = { 0 };
    struct error e = { 0 };
    struct runner *r = runner_new(&mem, "sim", &e);
    if (!r) {
        error_print(stderr, &e);
        exit(2);
    }
    for (u32 i; (i = __atomic_fetch_add(&j->next, 1, __ATOMIC_RELAXED)) < j->variants.n;)
        if (j->verdict[i].record && !j->verdict[i].record->refused)
            replay_one(j, r, i);
    runner_delete(r);
    arena_free(&mem);
    return NULL;
}

/* Both devices, value by value, over the inputs whose hash differs. */
static void raw_compare(const struct variant *v, const void *want, const void *got, u64 first, u32 n, bool counted, u32 *shown, u64 *differ, u64 *worst)
{
    u32 bytes = register_bytes(v->result);
    for (u32 i = 0; i < n; i++) {
        u64 x = element(want, bytes, i), y = element(got, bytes, i);
        char text[400];
        if (x == y)
            continue;
        ++*differ;
        if (is_scalar_float(v->result))
            *worst = MAX_OF(*worst, ulps(v->result, x, y));
        if ((*shown)++ < 3) {
            difference(v, counted ? NULL : random_value, counted ? first + i : i, x, y, text, sizeof text);
            printf("    %s\n", text);
        }
    }
}

static void raw_one(struct runner *gpu, struct runner *sim, const struct variant *v, const struct verdict *d)
{
    struct error e = { 0 };
    u32 shown = 0;
    u64 differ = 0, worst = 0;
    if (!runner_load(gpu, v, &e) || !runner_load(sim, v, &e))
        return;
    if (d->randoms) {
        const void *x = runner_random(gpu, 1u << RANDOM_BITS, &e), *y = runner_random(sim, 1u << RANDOM_BITS, &e);
        if (x && y)
            raw_compare(v, x, y, 0, 1u << RANDOM_BITS, false, &shown, &differ, &worst);
        printf("    random: %llu of %u differ, worst %llu ulp\n", (unsigned long long)differ, 1u << RANDOM_BITS, (unsigned long long)worst);
    }
    differ = worst = shown = 0;
    u32 bits = d->all >= 0 ? MIN_OF(all_bits(v), (u32)ALL_BLOCK_BITS) : 0;
    for (u64 at = 0; d->all >= 0 && at < 1ull << bits; at += 1u << 16) {
        u64 first = ((u64)d->all << bits) + at;
        const void *x = runner_all(gpu, first, 1u << 16, &e), *y = runner_all(sim, first, 1u << 16, &e);
        if (x && y)
            raw_compare(v, x, y, first, 1u << 16, true, &shown, &differ, &worst);
    }
    if (d->all >= 0)
        printf("    all, block %d: %llu of %u differ, worst %llu ulp\n", d->all, (unsigned long long)differ, 1u << bits, (unsigned long long)worst);
}

static bool wanted(const struct job *j, const char *name)
{
    for (int i = 0; i < j->onlys; i++)
        if (!strncmp(name, j->only[i], strlen(j->only[i])))
            return true;
    return !j->onlys;
}

static void say(const struct job *j, u32 i)
{
    const struct variant *v = &j->variants.p[i];
    const struct verdict *d = &j->verdict[i];
    if (!d->failed) {
        if (j->show_all && d->record && !d->record->refused)
            printf("%-36s %s\n", v->name, d->near ? "approximate" : d->known ? "differs, as is known" : "agrees");
        if (!d->known && d->record && listed(&j->known, v) && !j->quick)
            printf("%-36s agrees now: take it off the list of those that differ\n", v->name);
        return;
    }
    printf("%-36s DIFFERS", v->name);
    if (d->edges)
        printf(" in %u of %u edges", d->edges, edge_count(v));
    if (d->randoms)
        printf(", %u of %u random blocks", d->randoms, j->quick ? QUICK_BLOCKS : RANDOM_BLOCKS);
    if (d->alls)
        printf(", %u of %u blocks of all inputs (first %d)", d->alls, j->quick ? 1 : d->record->alls, d->all);
    printf("\n    %s\n", d->text);
}

static int summary(struct job *j)
{
    u32 agree = 0, near = 0, known = 0, differ = 0, refused = 0, missing = 0;
    struct runner *gpu = NULL, *sim = NULL;
    struct error e = { 0 };
    if (j->raw) {
        gpu = runner_new(&j->mem, "gpu", &e);
        sim = gpu ? runner_new(&j->mem, "sim", &e) : NULL;
        if (!sim)
            error_print(stderr, &e);
    }
    for (u32 i = 0; i < j->variants.n; i++) {
        const struct verdict *d = &j->verdict[i];
        if (!wanted(j, j->variants.p[i].name))
            continue;
        say(j, i);
        if (sim && d->failed)
            raw_one(gpu, sim, &j->variants.p[i], d);
        missing += !d->record;
        refused += d->record && d->record->refused;
        differ += d->failed;
        near += d->record && !d->failed && d->near;
        known += d->known;
        agree += d->record && !d->record->refused && !d->failed && !d->near && !d->known;
    }
    printf("truth (%s): %u agree, %u approximate, %u known to differ, %u differ, %u not recorded, %u spellings that ptxas refuses\n",
           j->records.device, agree, near, known, differ, missing, refused);
    if (sim)
        runner_delete(sim);
    if (gpu)
        runner_delete(gpu);
    return differ ? 1 : agree ? 0 : 4;
}

/* The files `approximate` and `differs` beside the records: NAME ULP, one a line, # for comments; 4294967295: however far off. */
static bool allowances_load(struct job *j, const char *records, const char *name, struct allowances *list, struct error *e)
{
    struct text path = { 0 };
    const char *slash = strrchr(records, '/');
    struct str file;
    text_add(&path, "%.*s%s", slash ? (int)(slash + 1 - records) : 0, records, name);
    bool ok = file_read(path.p, &file, e);
    text_free(&path);
    if (!ok)
        return false;
    for (char *line = (char *)file.p, *end; *line; line = end + (*end == '\n')) {
        struct allowance a = { 0 };
        end = line + strcspn(line, "\n");
        if (*line != '#' && sscanf(line, "%95s %u", a.name, &a.ulp) == 2)
            VEC_PUSH(&j->mem, list, a);
    }
    base_free((void *)file.p);
    return true;
}

static int replay(struct job *j, const char *path, struct error *e)
{
    if (!records_load(&j->mem, path, &j->records, e) || !allowances_load(j, path, "approximate", &j->near, e) ||
        !allowances_load(j, path, "differs", &j->known, e))
        return 2;
    j->verdict = NEW_ARRAY(&j->mem, struct verdict, j->variants.n + 1);
    for (u32 i = 0; i < j->variants.n; i++) {
        j->verdict[i].random = j->verdict[i].all = -1;
        j->verdict[i].record = wanted(j, j->variants.p[i].name) ? records_find(&j->records, j->variants.p[i].name) : NULL;
    }
    pthread_t thread[64];
    int n = MIN_OF(cpu_count(), 64);
    for (int i = 0; i < n; i++)
        CHECK(!pthread_create(&thread[i], NULL, worker, j));
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    return summary(j);
}

/* ---- recording ---- */

static bool record_hashes(struct arena *a, struct runner *r, const struct variant *v, struct record *out, struct error *e)
{
    u32 bytes = register_bytes(v->result);
    if (v->all) {
        out->alls = all_bits(v) > ALL_BLOCK_BITS ? 1u << (all_bits(v) - ALL_BLOCK_BITS) : 1;
        out->all = NEW_ARRAY(a, u64, out->alls);
        for (u32 k = 0; k < out->alls; k++)
            if (!runner_all_hash(r, k, &out->all[k], e))
                return false;
    }
    const u8 *got = runner_random(r, 1u << RANDOM_BITS, e);
    if (!got)
        return false;
    out->random = NEW_ARRAY(a, u64, RANDOM_BLOCKS);
    for (u32 k = 0; k < RANDOM_BLOCKS; k++) {
        u64 first = (u64)k << RANDOM_BLOCK_BITS;
        out->random[k] = hash_array(got + first * bytes, bytes, first, 1u << RANDOM_BLOCK_BITS);
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
    if (!got)
        return false;
    out->edges = edge_count(v);
    out->edge = NEW_ARRAY(a, u8, (size_t)out->edges * out->result_bytes);
    memcpy(out->edge, got, (size_t)out->edges * out->result_bytes);
    return record_hashes(a, r, v, out, e);
}

static int record(struct job *j, const char *path, const char *on, bool again, struct error *e)
{
    struct error none = { 0 };
    if (again || !records_load(&j->mem, path, &j->records, &none))
        j->records = (struct records){ 0 };
    struct runner *r = runner_new(&j->mem, on, e);
    if (!r)
        return 2;
    snprintf(j->records.device, sizeof j->records.device, "%s", runner_title(r));
    u32 made = 0;
    u64 t0 = time_ns();
    for (u32 i = 0; i < j->variants.n; i++) {
        const struct variant *v = &j->variants.p[i];
        if (records_find(&j->records, v->name) || !wanted(j, v->name) || i % j->parts != j->part)
            continue;
        struct record *one = NEW(&j->mem, struct record);
        if (!record_one(&j->mem, r, v, one, e)) {
            fprintf(stderr, "%s: ", v->name);
            return 2;
        }
        VEC_PUSH(&j->mem, &j->records, one);
        made++;
    }
    runner_delete(r);
    printf("truth: %u recorded on %s in %.1f s, %u in all\n", made, j->records.device, (double)(time_ns() - t0) / 1e9, j->records.n);
    return records_save(path, &j->records, e) ? 0 : 2;
}

/* The results of n inputs from `first` on, one after the other or `step` apart, as they are, into a file. */
static int raw(struct job *j, const char *path, const char *on, char **arg, int args, struct error *e)
{
    const struct variant *v = NULL;
    u64 number[3] = { 0 };      /* first, n, step; step 0: counted through by the kernel, which needs no memory for them */
    for (int i = 0; i < 3 && i + 1 < args; i++)
        number[i] = strtoull(arg[i + 1], NULL, 0);
    for (u32 i = 0; args && i < j->variants.n; i++)
        if (!strcmp(j->variants.p[i].name, arg[0]))
            v = &j->variants.p[i];
    u64 first = number[0], n = number[1], step = number[2], most = 1ull << (strcmp(on, "gpu") || step ? RANDOM_BITS : ALL_BLOCK_BITS);
    if (!v || v->sources != 1 || !(v->all || step) || !n || n > most)
        return error_set(e, ERR_INPUT, "raw takes FILE NAME FIRST COUNT [STEP]: a form of one operand (of 64 bits: with STEP), at most %llu inputs",
                         (unsigned long long)most), 2;
    struct runner *r = runner_new(&j->mem, on, e);
    const void *p = !r || !runner_load(r, v, e) ? NULL : step ? runner_steps(r, first, step, (u32)n, e) : runner_all(r, first, (u32)n, e);
    bool ok = p && file_write(path, p, n * register_bytes(v->result), e);
    if (r)
        runner_delete(r);
    return ok ? 0 : 2;
}

/* The records of several files into one; what the first has stays. */
static int merge(struct job *j, const char *path, char **from, int n, struct error *e)
{
    struct records all = { 0 };
    for (int i = 0; i < n; i++) {
        if (!records_load(&j->mem, from[i], &j->records, e))
            return 2;
        memcpy(all.device, j->records.device, sizeof all.device);
        for (u32 k = 0; k < j->records.n; k++)
            if (!records_find(&all, j->records.p[k]->name))
                VEC_PUSH(&j->mem, &all, j->records.p[k]);
    }
    return records_save(path, &all, e) ? 0 : 2;
}

static int list(struct job *j, const char *ptx)
{
    for (u32 i = 0; i < j->variants.n; i++) {
        const struct variant *v = &j->variants.p[i];
        if (ptx && !strcmp(ptx, v->name))
            fputs(variant_ptx(&j->mem, v), stdout);
        if (!ptx)
            puts(v->name);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct job j = { .parts = 1 };
    struct error e = { 0 };
    const char *verb = argc > 1 ? argv[1] : "", *file = NULL, *ptx = NULL, *on = "gpu";
    bool again = false;
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--ptx") && i + 1 < argc)
            ptx = argv[++i];
        else if (!strcmp(argv[i], "--on") && i + 1 < argc)
            on = argv[++i];
        else if (!strcmp(argv[i], "--part") && i + 1 < argc && sscanf(argv[i + 1], "%u/%u", &j.part, &j.parts) == 2 && j.parts)
            i++;
        else if (!strcmp(argv[i], "--quick"))
            j.quick = true;
        else if (!strcmp(argv[i], "--raw"))
            j.raw = true;
        else if (!strcmp(argv[i], "--every"))
            j.every = true;
        else if (!strcmp(argv[i], "--again"))
            again = true;
        else if (!strcmp(argv[i], "--all-verdicts"))
            j.show_all = true;
        else if (!file)
            file = argv[i];
        else {
            j.only = argv + i;
            j.onlys = argc - i;
            break;
        }
    }
    variants_list(&j.mem, &j.variants);
    int code = 2;
    if (!strcmp(verb, "list"))
        code = list(&j, ptx);
    else if (!strcmp(verb, "record") && file)
        code = record(&j, file, on, again, &e);
    else if (!strcmp(verb, "merge") && file)
        code = merge(&j, file, j.only, j.onlys, &e);
    else if (!strcmp(verb, "raw") && file)
        code = raw(&j, file, on, j.only, j.onlys, &e);
    else if (!strcmp(verb, "replay") && file)
        code = replay(&j, file, &e);
    else
        fprintf(stderr, "usage: truth list [--ptx NAME] | record FILE [--again] [--on sim] [--part K/N] | merge FILE FROM... | replay FILE [--quick] [--raw] [--all-verdicts] [NAME...] | raw FILE NAME FIRST COUNT [STEP]\n");
    if (e.code)
        error_print(stderr, &e);
    arena_free(&j.mem);
    return code;
}
