/* Replaying: every record against the software GPU, on all processors.
 *
 * The work is cut into units: the edges and random inputs of a form are one, and all inputs of a form are one for
 * each few blocks, so that no processor is left alone with a long form at the end. Workers take the next unit from a
 * counter; the main thread waits for them and for signals, and shows how far they are when somebody watches. */
#include "truth.h"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { UNIT_BLOCKS = 8, WORKERS_MOST = 64 };

struct verdict {                 /* of one variant; workers write it under the lock of the crew */
    const struct record *record; /* NULL: not recorded */
    bool failed;
    bool broken;              /* could not run: text says why */
    u32 planned, units;       /* of this part; those that are still to do */
    int random, all;          /* first block that differs, -1: none */
    u32 edges, randoms, alls; /* how many differ */
    char text[400];           /* the first difference */
};

/* blocks [from, to) of all inputs; from == to: edges and random inputs, and in a quick run spots */
struct unit {
    u32 variant, from, to;
};

struct crew {
    struct job *job;
    struct verdict *verdict; /* one for each variant */
    VEC(struct unit) units;
    u32 next;           /* atomic: the next unit */
    u32 running;        /* atomic: workers at work */
    bool stop;          /* atomic: somebody wants to end it */
    lock_t lock;        /* of the verdicts, and of: */
    u64 inputs, forms;  /* compared until now; all units of a form done */
    u64 planned;        /* inputs of all units */
    u64 whole;          /* inputs of all units of all parts */
    struct error error; /* why a worker could not begin */
};

/* Distance in units of the last place; 0 for two NaNs, huge for one. */
static u64 ulps(enum ptx_type t, u64 a, u64 b)
{
    u32 bits = type_size[t] * 8;
    u64 sign = 1ull << (bits - 1), inf = t == T_F32   ? 0x7f800000u
                                         : t == T_F64 ? 0x7ff0000000000000u
                                         : t == T_F16 ? 0x7c00
                                                      : 0x7f80;
    bool na = (a & ~sign) > inf, nb = (b & ~sign) > inf;
    if (na || nb) return na && nb ? 0 : UINT64_MAX;
    s64 x = a & sign ? -(s64)(a & ~sign) : (s64)a, y = b & sign ? -(s64)(b & ~sign) : (s64)b;
    return x > y ? (u64)(x - y) : (u64)(y - x);
}

static bool is_scalar_float(enum ptx_type t) { return t == T_F32 || t == T_F64 || t == T_F16 || t == T_BF16; }

/* "a=0x3f800000 b=0x1: expected 0x2, got 0x3" */
static void difference(const struct variant *v, u64 (*value)(const struct variant *, u32, u32), u64 i, u64 want,
                       u64 got, char *out, size_t size)
{
    size_t n = print_operands(v, value, i, out, size);
    int w = (int)register_bytes(v->result) * 2;
    snprintf(out + n, size - n, ": expected 0x%0*llx, got 0x%0*llx", w, (unsigned long long)want, w,
             (unsigned long long)got);
}

static bool replay_edges(struct runner *r, const struct variant *v, struct verdict *d, bool every, struct error *e)
{
    const struct record *rec = d->record;
    u32 bytes = register_bytes(v->result), n = edge_count(v);
    const void *got = runner_edges(r, e);
    if (!got || rec->edges != n || rec->result_bytes != bytes)
        return error_set(e, ERR_INPUT, "the record has %u edges of %u bytes, %u of %u are wanted", rec->edges,
                         rec->result_bytes, n, bytes);
    for (u32 i = 0; i < n; i++) {
        u64 x = element(rec->edge, bytes, i), y = element(got, bytes, i);
        if (x == y) continue;
        char text[sizeof d->text];
        difference(v, edge_value, i, x, y, text, sizeof text);
        if (!d->edges++) memcpy(d->text, text, sizeof text);
        if (every) printf("%s %s\n", v->name, text);
    }
    return true;
}

static bool replay_random(struct runner *r, const struct variant *v, struct verdict *d, bool quick, struct error *e)
{
    u32 bytes = register_bytes(v->result), blocks = quick ? QUICK_RANDOM : RANDOM_BLOCKS;
    const u8 *got = d->record->random ? runner_random(r, blocks << RANDOM_BLOCK_BITS, e) : NULL;
    for (u32 k = 0; got && k < blocks; k++) {
        u32 first = k << RANDOM_BLOCK_BITS;
        if (hash_array(got + (size_t)first * bytes, bytes, first, 1u << RANDOM_BLOCK_BITS) != d->record->random[k] &&
            !d->randoms++)
            d->random = (int)k;
    }
    return got || !d->record->random;
}

/* The spots of a few blocks, evenly spread, others for another form. */
static bool replay_spots(struct runner *r, const struct variant *v, struct verdict *d, struct error *e)
{
    u32 n = d->record->alls, some = MIN_OF(n, (u32)QUICK_SPOTS), from = (u32)str_hash(str_of(v->name));
    for (u32 i = 0; i < some; i++) {
        u64 hash;
        u32 k = (from + i * (n / some)) % n;
        if (!runner_hash(r, spot_first(v, k), SPOT_BITS, &hash, e)) return false;
        if (hash != d->record->spot[k] && !d->alls++) d->all = (int)k;
    }
    return true;
}

static bool replay_blocks(struct runner *r, const struct variant *v, struct verdict *d, struct unit u, const bool *stop,
                          struct error *e)
{
    u32 bits = MIN_OF(all_bits(v), (u32)ALL_BLOCK_BITS);
    for (u32 k = u.from; k < u.to && !__atomic_load_n(stop, __ATOMIC_RELAXED); k++) {
        u64 hash;
        if (!runner_hash(r, (u64)k << bits, bits, &hash, e)) return false;
        if (hash != d->record->all[k] && (!d->alls++ || (int)k < d->all)) d->all = (int)k;
    }
    return true;
}

static u64 unit_inputs(const struct job *j, struct unit u)
{
    const struct variant *v = &j->variants.p[u.variant];
    return u.to > u.from ? (u64)(u.to - u.from) << MIN_OF(all_bits(v), (u32)ALL_BLOCK_BITS)
                         : edge_count(v) + ((u64)(j->quick ? QUICK_RANDOM : RANDOM_BLOCKS) << RANDOM_BLOCK_BITS);
}

/* What a unit found goes into the form's verdict. */
static void collect(struct crew *c, struct unit u, const struct verdict *found, bool whole)
{
    struct verdict *d = &c->verdict[u.variant];
    lock(&c->lock);
    if (!d->text[0]) memcpy(d->text, found->text, sizeof d->text);
    d->broken |= found->broken;
    d->edges += found->edges;
    d->randoms += found->randoms;
    d->alls += found->alls;
    d->random = d->random < 0 ? found->random : d->random;
    d->all = found->all >= 0 && (d->all < 0 || found->all < d->all) ? found->all : d->all;
    d->units -= whole;
    c->forms += whole && !d->units;
    c->inputs += whole ? unit_inputs(c->job, u) : 0;
    d->failed = d->broken || d->edges || d->randoms || d->alls;
    unlock(&c->lock);
}

static void do_unit(struct crew *c, struct runner *r, struct unit u)
{
    const struct job *j = c->job;
    const struct variant *v = &j->variants.p[u.variant];
    struct verdict found = { .record = c->verdict[u.variant].record, .random = -1, .all = -1 };
    struct error e = { 0 };
    bool ok = runner_load(r, v, &e);
    if (ok && u.to > u.from) {
        ok = replay_blocks(r, v, &found, u, &c->stop, &e);
    } else if (ok) {
        ok = replay_edges(r, v, &found, j->every, &e) && replay_random(r, v, &found, j->quick, &e) &&
             (!j->quick || !found.record->alls || replay_spots(r, v, &found, &e));
    }
    found.broken = !ok;
    if (!ok) snprintf(found.text, sizeof found.text, "cannot run: %.300s", e.text);
    collect(c, u, &found, !__atomic_load_n(&c->stop, __ATOMIC_RELAXED) || u.from == u.to);
}

static void *worker(void *p)
{
    struct crew *c = p;
    struct arena mem = { 0 };
    struct error e = { 0 };
    struct runner *r = runner_new(&mem, "sim", &e);
    if (!r) {
        lock(&c->lock);
        c->error = e;
        unlock(&c->lock);
        __atomic_store_n(&c->stop, true, __ATOMIC_RELAXED);
    }
    for (u32 i; !__atomic_load_n(&c->stop, __ATOMIC_RELAXED) &&
                (i = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED)) < c->units.n;)
        do_unit(c, r, c->units.p[i]);
    if (r) runner_delete(r);
    arena_free(&mem);
    __atomic_fetch_sub(&c->running, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* ---- --raw: both devices, value by value, over the inputs whose hash differs ---- */

struct tally {
    u32 shown;
    u64 differ, worst;
};

static void raw_compare(const struct variant *v, const void *want, const void *got, u64 first, u32 n, bool counted,
                        struct tally *t)
{
    u32 bytes = register_bytes(v->result);
    for (u32 i = 0; want && got && i < n; i++) {
        u64 x = element(want, bytes, i), y = element(got, bytes, i);
        char text[400];
        if (x == y) continue;
        t->differ++;
        if (is_scalar_float(v->result)) t->worst = MAX_OF(t->worst, ulps(v->result, x, y));
        if (t->shown++ < 3) {
            difference(v, counted ? NULL : random_value, counted ? first + i : i, x, y, text, sizeof text);
            printf("    %s\n", text);
        }
    }
}

static void raw_one(struct runner *gpu, struct runner *sim, const struct variant *v, const struct verdict *d)
{
    struct error e = { 0 };
    struct tally t = { 0 };
    if (!runner_load(gpu, v, &e) || !runner_load(sim, v, &e)) return;
    if (d->randoms) {
        const void *want = runner_random(gpu, 1u << RANDOM_BITS, &e);
        raw_compare(v, want, runner_random(sim, 1u << RANDOM_BITS, &e), 0, 1u << RANDOM_BITS, false, &t);
        printf("    random: %llu of %u differ, worst %llu ulp\n", (unsigned long long)t.differ, 1u << RANDOM_BITS,
               (unsigned long long)t.worst);
    }
    t = (struct tally){ 0 };
    u32 bits = d->all >= 0 ? MIN_OF(all_bits(v), (u32)ALL_BLOCK_BITS) : 0;
    for (u64 at = 0; d->all >= 0 && at < 1ull << bits; at += 1u << SPOT_BITS) {
        u64 first = ((u64)d->all << bits) + at;
        const void *want = runner_all(gpu, first, 1u << SPOT_BITS, &e);
        raw_compare(v, want, runner_all(sim, first, 1u << SPOT_BITS, &e), first, 1u << SPOT_BITS, true, &t);
    }
    if (d->all >= 0)
        printf("    all, block %d: %llu of %u differ, worst %llu ulp\n", d->all, (unsigned long long)t.differ,
               1u << bits, (unsigned long long)t.worst);
}

static void raw_all(struct job *j, const struct verdict *verdict)
{
    struct error e = { 0 };
    struct runner *gpu = runner_new(&j->mem, "gpu", &e), *sim = gpu ? runner_new(&j->mem, "sim", &e) : NULL;
    if (!sim) error_print(stderr, &e);
    for (u32 i = 0; sim && i < j->variants.n; i++)
        if (verdict[i].failed) {
            printf("%s\n", j->variants.p[i].name);
            raw_one(gpu, sim, &j->variants.p[i], &verdict[i]);
        }
    if (sim) runner_delete(sim);
    if (gpu) runner_delete(gpu);
}

/* ---- what it says ---- */

static void say(const struct job *j, const struct variant *v, const struct verdict *d)
{
    if (!d->failed) {
        if (j->show_all && d->planned) printf("%-36s %s\n", v->name, d->units ? "not done" : "agrees");
        return;
    }
    printf("%-36s DIFFERS", v->name);
    if (d->edges) printf(" in %u of %u edges", d->edges, edge_count(v));
    if (d->randoms) printf(", %u of %u random blocks", d->randoms, j->quick ? QUICK_RANDOM : RANDOM_BLOCKS);
    if (d->alls)
        printf(", %u of %u %s of all inputs (first in block %d)", d->alls,
               j->quick ? MIN_OF(d->record->alls, (u32)QUICK_SPOTS) : d->record->alls, j->quick ? "spots" : "blocks",
               d->all);
    printf("\n    %s\n", d->text);
}

static int summary(const struct crew *c, double seconds)
{
    const struct job *j = c->job;
    u32 agree = 0, differ = 0, refused = 0, missing = 0, left = 0;
    for (u32 i = 0; i < j->variants.n; i++) {
        const struct verdict *d = &c->verdict[i];
        if (!job_wants(j, j->variants.p[i].name)) continue;
        say(j, &j->variants.p[i], d);
        missing += !d->record;
        refused += d->record && d->record->refused;
        left += d->units != 0;
        differ += d->failed;
        agree += d->planned && !d->failed && !d->units;
    }
    if (left) printf("truth: interrupted, %u forms not done\n", left);
    if (j->parts > 1) printf("truth: part %u of %u\n", j->part, j->parts);
    printf("truth (%s): %u agree, %u differ, %u not recorded, %u spellings that ptxas refuses; %llu of %llu inputs in "
           "%.1f s\n",
           j->records.device, agree, differ, missing, refused, (unsigned long long)c->inputs,
           (unsigned long long)c->whole, seconds);
    return differ ? 1 : left ? 130 : agree ? 0 : 4;
}

/* One line that is written over again, on a terminal only. */
static void progress(struct crew *c, u32 forms, double seconds)
{
    lock(&c->lock);
    double part = c->planned ? (double)c->inputs / (double)c->planned : 0;
    u64 done = c->forms;
    unlock(&c->lock);
    fprintf(stderr, "\rtruth: %llu of %u forms, %.1f %% of the inputs, %.0f s", (unsigned long long)done, forms,
            100 * part, seconds);
    if (part > 0.01) fprintf(stderr, ", about %.0f s left", seconds / part - seconds);
    fprintf(stderr, "   ");
    fflush(stderr);
}

/* ---- the crew at work ---- */

/* Every parts-th unit of all forms, so that each part has its share of every form, and takes as long as another. */
static void add_unit(struct crew *c, struct unit u, u32 *n)
{
    struct job *j = c->job;
    u64 inputs = unit_inputs(j, u);
    c->whole += inputs;
    if ((*n)++ % j->parts != j->part) return;
    c->planned += inputs;
    c->verdict[u.variant].planned++;
    c->verdict[u.variant].units++;
    VEC_PUSH(&j->mem, &c->units, u);
}

static void plan(struct crew *c)
{
    struct job *j = c->job;
    u32 n = 0;
    c->verdict = NEW_ARRAY(&j->mem, struct verdict, j->variants.n + 1);
    for (u32 i = 0; i < j->variants.n; i++) {
        const struct variant *v = &j->variants.p[i];
        struct verdict *d = &c->verdict[i];
        d->random = d->all = -1;
        d->record = job_wants(j, v->name) ? records_find(&j->records, v->name) : NULL;
        if (!d->record || d->record->refused) continue;
        add_unit(c, (struct unit){ i, 0, 0 }, &n);
        for (u32 k = 0; !j->quick && k < d->record->alls; k += UNIT_BLOCKS)
            add_unit(c, (struct unit){ i, k, MIN_OF(k + UNIT_BLOCKS, d->record->alls) }, &n);
    }
}

static void wait_for(struct crew *c, const sigset_t *signals)
{
    u64 t0 = time_ns();
    u32 forms = 0;
    bool watched = isatty(STDERR_FILENO);
    for (u32 i = 0; i < c->job->variants.n; i++) forms += c->verdict[i].units != 0;
    while (__atomic_load_n(&c->running, __ATOMIC_ACQUIRE)) {
        struct timespec tick = { 0, 20000000 };
        if (sigtimedwait(signals, NULL, &tick) > 0) __atomic_store_n(&c->stop, true, __ATOMIC_RELAXED);
        if (watched) progress(c, forms, (double)(time_ns() - t0) / 1e9);
    }
    if (watched) fprintf(stderr, "\r%*s\r", 100, "");
}

int replay(struct job *j, const char *path, struct error *e)
{
    struct crew c = { .job = j, .lock = LOCK_INIT };
    if (!records_load(&j->mem, path, &j->records, e)) return 2;
    plan(&c);
    /* the workers never see these: this thread takes them, so that what is done can be told */
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    pthread_t thread[WORKERS_MOST];
    u32 n = MIN_OF(j->threads ? j->threads : (u32)cpu_count(), (u32)WORKERS_MOST);
    u64 t0 = time_ns();
    c.running = n;
    for (u32 i = 0; i < n; i++) CHECK(!pthread_create(&thread[i], NULL, worker, &c));
    wait_for(&c, &signals);
    for (u32 i = 0; i < n; i++) pthread_join(thread[i], NULL);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    if (c.error.code) return *e = c.error, 2;
    int code = summary(&c, (double)(time_ns() - t0) / 1e9);
    if (j->raw) raw_all(j, c.verdict);
    return code;
}
