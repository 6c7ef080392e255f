/* cuRAND: the host interface. NVIDIA's own library makes the same integers and uniform numbers on the host as on a GPU,
 * bit for bit, and needs none for it: its host generators do the work, where the machine has the library. A generator
 * of the device is a host generator whose draws are operations of its stream.
 *
 * What the program sets (seed, offset, ordering, dimensions) is for the draws that follow, and earlier ones may not
 * have run yet: a draw takes along what was set before it, and what has changed since the last one is done when it
 * runs. */
#include "libraries/library.h"
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { UNREADY = 101, TYPE = 103, LENGTH = 105 };  /* curandStatus_t */
enum { MTGP32 = 141, MT19937 = 142, QUASI = 200 }; /* curandRngType_t */
enum { SEED, OFFSET, ORDERING, DIMENSIONS, SETTINGS = LIBRARY_SETTINGS };

/* ---- NVIDIA's library ---- */

#define REAL(ROW)                                                                          \
    ROW(curandCreateGeneratorHost, (void **out, int type))                                 \
    ROW(curandDestroyGenerator, (void *g))                                                 \
    ROW(curandGetVersion, (int *out))                                                      \
    ROW(curandGetProperty, (int which, int *out))                                          \
    ROW(curandSetPseudoRandomGeneratorSeed, (void *g, u64 value))                          \
    ROW(curandSetGeneratorOffset, (void *g, u64 value))                                    \
    ROW(curandSetGeneratorOrdering, (void *g, int value))                                  \
    ROW(curandSetQuasiRandomGeneratorDimensions, (void *g, unsigned value))                \
    ROW(curandGenerateSeeds, (void *g))                                                    \
    ROW(curandGenerate, (void *g, void *out, size_t n))                                    \
    ROW(curandGenerateLongLong, (void *g, void *out, size_t n))                            \
    ROW(curandGenerateUniform, (void *g, void *out, size_t n))                             \
    ROW(curandGenerateUniformDouble, (void *g, void *out, size_t n))                       \
    ROW(curandGenerateNormal, (void *g, void *out, size_t n, float a, float b))            \
    ROW(curandGenerateNormalDouble, (void *g, void *out, size_t n, double a, double b))    \
    ROW(curandGenerateLogNormal, (void *g, void *out, size_t n, float a, float b))         \
    ROW(curandGenerateLogNormalDouble, (void *g, void *out, size_t n, double a, double b)) \
    ROW(curandGeneratePoisson, (void *g, void *out, size_t n, double lambda))              \
    ROW(curandGetDirectionVectors32, (void *out, int set))                                 \
    ROW(curandGetDirectionVectors64, (void *out, int set))                                 \
    ROW(curandGetScrambleConstants32, (void *out))                                         \
    ROW(curandGetScrambleConstants64, (void *out))
static struct {
    void *library; /* NULL: the machine has none */
#define ROW(name, parameters) int(*name) parameters;
    REAL(ROW)
#undef ROW
} real;

/* From the folders of a list with colons, or a folder below each. Lockstep's own library of that name is skipped. */
static void *real_in(const char *list, const char *below)
{
    char path[4096];
    void *p = NULL;
    while (list && *list && !p) {
        int n = (int)strcspn(list, ":");
        snprintf(path, sizeof path, "%.*s%s/lockstep-front.so", n, list, below);
        bool own = !access(path, F_OK);
        snprintf(path, sizeof path, "%.*s%s/libcurand.so.10", n, list, below);
        if (n && !own) p = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        list += n + (list[n] == ':');
    }
    return p;
}

static void real_find(void)
{
    void *p = real_in(getenv("LD_LIBRARY_PATH"), "");
    if (!p) p = real_in(getenv("CUDA_HOME"), "/lib64");
    if (!p) p = real_in(getenv("CUDA_PATH"), "/lib64");
    if (!p) p = real_in("/usr/local/cuda/lib64:/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu", "");
#define ROW(name, parameters) *(void **)&real.name = p ? dlsym(p, #name) : NULL;
    REAL(ROW)
#undef ROW
    real.library = p;
#define ROW(name, parameters) \
    if (!real.name) real.library = NULL;
    REAL(ROW)
#undef ROW
}

/* false: it is not here, which is said. */
static bool real_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, real_find);
    if (!real.library)
        library_refused(
            "cuRAND without NVIDIA's libcurand.so.10, whose host generators make the numbers (looked for in "
            "LD_LIBRARY_PATH, CUDA_HOME and /usr/local/cuda/lib64),");
    return real.library != NULL;
}

/* ---- generators ---- */

struct random_source { /* a host generator; the program's handle and each draw that is to come hold it */
    void *generator;
    lock_t lock; /* of the generator, and of `done` */
    u32 refs;    /* atomic */
    u32 done[SETTINGS];
};
struct random {
    struct library_handle of;
    struct random_source *source;
    void *stream;
    bool host; /* of curandCreateGeneratorHost */
    s64 type;  /* curandRngType_t */
    struct library_setting set[SETTINGS];
};

static void source_drop(struct random_source *s)
{
    if (__atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL)) return;
    real.curandDestroyGenerator(s->generator);
    base_free(s);
}

static s64 create(struct library_call *c, bool host)
{
    void **out = c->a.result;
    if (!cu_ok(out)) return c->codes->invalid;
    if (!real_ready()) return c->codes->unsupported;
    struct random *r = library_handle_new(c, HANDLE_RANDOM, sizeof *r);
    struct random_source *s = r ? base_alloc(sizeof *s) : NULL;
    int failed = s ? real.curandCreateGeneratorHost(&s->generator, (int)c->a.type) : c->codes->memory;
    if (failed) {
        base_free(s);
        if (r) cu_handle_drop(r, NULL);
        if (s)
            library_wrong(c, "Pass a type of curand.h.", "%s returns %d for type %" PRId64 ".", c->name, failed,
                          c->a.type);
        return failed;
    }
    s->lock = (lock_t)LOCK_INIT;
    s->refs = 1;
    r->source = s;
    r->host = host;
    r->type = c->a.type;
    *out = library_handle_open(r);
    return 0;
}
s64 random_create(struct library_call *c) { return create(c, false); }
s64 random_create_host(struct library_call *c) { return create(c, true); }

static cu_result random_ended(void *handle)
{
    source_drop(((struct random *)handle)->source);
    return CU_OK;
}
s64 random_destroy(struct library_call *c)
{
    if (!library_handle(c, HANDLE_RANDOM)) return UNREADY;
    if (cu_handle_take(c->a.handle, CU_OF_LIBRARY)) cu_handle_drop(c->a.handle, random_ended);
    return 0;
}

s64 random_set_stream(struct library_call *c)
{
    struct random *r = library_handle(c, HANDLE_RANDOM);
    if (r) r->stream = c->a.stream;
    return r ? 0 : UNREADY;
}

/* Quasi-random generators have no seed, others no dimensions, and those of the Mersenne twister no offset. */
static bool takes(const struct random *r, u32 which)
{
    bool quasi = r->type >= QUASI, twister = r->type == MTGP32 || r->type == MT19937;
    return which == SEED ? !quasi : which == DIMENSIONS ? quasi : which == OFFSET ? !twister : true;
}

static s64 setting(struct library_call *c, u32 which)
{
    struct random *r = library_handle(c, HANDLE_RANDOM);
    if (!r) return UNREADY;
    if (!takes(r, which)) {
        library_wrong(c, "Leave the call out, or take another type of generator.",
                      "%s is called with a generator of type %" PRId64 ", which has no such setting.", c->name,
                      r->type);
        return TYPE;
    }
    r->set[which] = (struct library_setting){ (u64)c->a.seed, r->set[which].number + 1 };
    return 0;
}
s64 random_set_seed(struct library_call *c) { return setting(c, SEED); }
s64 random_set_offset(struct library_call *c) { return setting(c, OFFSET); }
s64 random_set_ordering(struct library_call *c) { return setting(c, ORDERING); }
s64 random_set_dimensions(struct library_call *c) { return setting(c, DIMENSIONS); }
s64 random_seeds(struct library_call *c) { return library_handle(c, HANDLE_RANDOM) ? 0 : UNREADY; }

/* ---- draws ---- */

/* What was set since the last draw that has run. */
static int settle(struct random_source *s, const struct library_setting set[SETTINGS])
{
    int r = 0;
    for (u32 i = SETTINGS; i-- > 0 && !r;) { /* dimensions and ordering first, then the offset, then the seed */
        if (s->done[i] == set[i].number) continue;
        s->done[i] = set[i].number;
        u64 v = set[i].value;
        r = i == SEED       ? real.curandSetPseudoRandomGeneratorSeed(s->generator, v)
            : i == OFFSET   ? real.curandSetGeneratorOffset(s->generator, v)
            : i == ORDERING ? real.curandSetGeneratorOrdering(s->generator, (int)v)
                            : real.curandSetQuasiRandomGeneratorDimensions(s->generator, (unsigned)v);
    }
    return r;
}

enum draw { WORDS, WIDE_WORDS, UNIFORM, UNIFORM_DOUBLE, NORMAL, NORMAL_DOUBLE, LOG_NORMAL, LOG_NORMAL_DOUBLE, POISSON };

static int draw_from(void *g, enum draw kind, void *to, size_t n, const double x[2])
{
    switch (kind) {
    case WORDS: return real.curandGenerate(g, to, n);
    case WIDE_WORDS: return real.curandGenerateLongLong(g, to, n);
    case UNIFORM: return real.curandGenerateUniform(g, to, n);
    case UNIFORM_DOUBLE: return real.curandGenerateUniformDouble(g, to, n);
    case NORMAL: return real.curandGenerateNormal(g, to, n, (float)x[0], (float)x[1]);
    case NORMAL_DOUBLE: return real.curandGenerateNormalDouble(g, to, n, x[0], x[1]);
    case LOG_NORMAL: return real.curandGenerateLogNormal(g, to, n, (float)x[0], (float)x[1]);
    case LOG_NORMAL_DOUBLE: return real.curandGenerateLogNormalDouble(g, to, n, x[0], x[1]);
    default: return real.curandGeneratePoisson(g, to, n, x[0]);
    }
}

/* As host generators refuse what those of the device take, a draw that fails says so. */
static s64 draw_now(struct library_call *c, struct random_source *s, const struct library_setting *set, void *to)
{
    lock(&s->lock);
    int r = settle(s, set);
    if (!r) r = draw_from(s->generator, c->random.kind, to, (size_t)c->a.count, c->number);
    unlock(&s->lock);
    if (r)
        library_wrong(c, "Look at the counts, the order and the dimensions that the generator takes.",
                      "%s of %" PRId64 " numbers: the generator returns %d.", c->name, c->a.count, r);
    return r;
}

static void draw_run(struct library_call *c) { draw_now(c, c->random.state, c->random.set, library_view(c->a.out)); }
static void draw_end(struct library_call *c) { source_drop(c->random.state); }

static s64 draw(struct library_call *c, enum draw kind, s64 bytes)
{
    struct random *r = library_handle(c, HANDLE_RANDOM);
    if (!r) return UNREADY;
    c->random.kind = kind;
    if (kind >= NORMAL && kind <= LOG_NORMAL_DOUBLE && c->a.count % 2) {
        library_wrong(c, "Ask for an even count, and leave the last number out.",
                      "%s makes numbers in pairs, and is asked for %" PRId64 ".", c->name, c->a.count);
        return LENGTH;
    }
    if (!c->a.count) return 0;
    if (r->host) return draw_now(c, r->source, r->set, c->a.out);
    c->random.state = r->source;
    memcpy(c->random.set, r->set, sizeof r->set);
    c->stream = r->stream;
    __atomic_add_fetch(&r->source->refs, 1, __ATOMIC_RELAXED);
    c->end = draw_end;
    library_operand(c, "the output", c->a.out, c->a.count * bytes, 1, 0, 1, 0, WRITES);
    return library_enqueue(c, draw_run);
}
s64 random_words(struct library_call *c) { return draw(c, WORDS, 4); }
s64 random_wide_words(struct library_call *c) { return draw(c, WIDE_WORDS, 8); }
s64 random_uniform(struct library_call *c) { return draw(c, UNIFORM, 4); }
s64 random_uniform_double(struct library_call *c) { return draw(c, UNIFORM_DOUBLE, 8); }
s64 random_normal(struct library_call *c) { return draw(c, NORMAL, 4); }
s64 random_normal_double(struct library_call *c) { return draw(c, NORMAL_DOUBLE, 8); }
s64 random_log_normal(struct library_call *c) { return draw(c, LOG_NORMAL, 4); }
s64 random_log_normal_double(struct library_call *c) { return draw(c, LOG_NORMAL_DOUBLE, 8); }
s64 random_poisson(struct library_call *c) { return draw(c, POISSON, 4); }

/* ---- what the library is asked ---- */

s64 random_version(struct library_call *c)
{
    return real_ready() ? real.curandGetVersion(c->a.result) : c->codes->unsupported;
}
s64 random_property(struct library_call *c)
{
    return real_ready() ? real.curandGetProperty((int)c->a.type, c->a.result) : c->codes->unsupported;
}
s64 random_directions_32(struct library_call *c)
{
    return real_ready() ? real.curandGetDirectionVectors32(c->a.result, (int)c->a.type) : c->codes->unsupported;
}
s64 random_directions_64(struct library_call *c)
{
    return real_ready() ? real.curandGetDirectionVectors64(c->a.result, (int)c->a.type) : c->codes->unsupported;
}
s64 random_scramble_32(struct library_call *c)
{
    return real_ready() ? real.curandGetScrambleConstants32(c->a.result) : c->codes->unsupported;
}
s64 random_scramble_64(struct library_call *c)
{
    return real_ready() ? real.curandGetScrambleConstants64(c->a.result) : c->codes->unsupported;
}
