/* Libraries that make cubins, NVRTC and nvJitLink. Their functions in producer.def are replaced where everybody looks
 * them up, in the library's own table of exports, before it is bound to anything: calls, dlsym and pointers in tables
 * all get ours. Ours goes to lkcu_produce of liblockstep (src/cuda/engine/producer.c) together with the library's own
 * functions. Several releases of a library may be in one process, so each has stubs of its own. */
#include "front/front.h"
#include <string.h>
#include <unistd.h>

enum { LIBRARIES = 6, ARGUMENTS = 6 }; /* that may be loaded at once; of a function at most */
#define PRODUCER(name, arguments) PRODUCE_##name,
enum {
#include "front/producer.def"
    PRODUCERS
};
#undef PRODUCER

typedef long produce_call(unsigned, void *const *, void *const *);
static uintptr_t library_at[LIBRARIES];     /* where it is mapped; 0: not met yet */
static void *real_of[LIBRARIES][PRODUCERS]; /* its own function; NULL: it has none of this name */

static long call(unsigned library, unsigned which, void *a, void *b, void *c, void *d, void *e, void *f)
{
    static produce_call *produce;
    void *const list[ARGUMENTS] = { a, b, c, d, e, f };
    produce_call *to = __atomic_load_n(&produce, __ATOMIC_ACQUIRE);
    if (!to) {
        void *p = front_own("libcuda.so.1", "lkcu_produce");
        if (!p) _exit(127);
        memcpy(&to, &p, sizeof p);
        __atomic_store_n(&produce, to, __ATOMIC_RELEASE);
    }
    return to(which, real_of[library], list);
}

/* A function takes at most ARGUMENTS; what it does not take is whatever the registers hold, and nobody reads it. */
#define PRODUCER(name, arguments) STUB(name, 0) STUB(name, 1) STUB(name, 2) STUB(name, 3) STUB(name, 4) STUB(name, 5)
#define STUB(name, library)                                                                  \
    static long own_##name##_##library(void *a, void *b, void *c, void *d, void *e, void *f) \
    {                                                                                        \
        return call(library, PRODUCE_##name, a, b, c, d, e, f);                              \
    }
#include "front/producer.def"
#undef STUB
#undef PRODUCER

typedef long stub(void *, void *, void *, void *, void *, void *);
static const struct {
    const char *name;
    stub *own[LIBRARIES];
} producer[PRODUCERS] = {
#define STUB(name, library) own_##name##_##library,
#define PRODUCER(name, arguments) \
    { #name, { STUB(name, 0) STUB(name, 1) STUB(name, 2) STUB(name, 3) STUB(name, 4) STUB(name, 5) } },
#include "front/producer.def"
#undef STUB
#undef PRODUCER
};

bool front_producer_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    return !strncmp(base, "libnvrtc.so", 11) || !strncmp(base, "libnvJitLink.so", 15);
}

/* Whether `name` is `plain`, or __PLAIN_MAJOR_MINOR. */
static bool is_named(const char *name, const char *plain)
{
    size_t n = strlen(plain);
    if (!strcmp(name, plain)) return true;
    return name[0] == '_' && name[1] == '_' && !strncmp(name + 2, plain, n) && name[2 + n] == '_' &&
           !name[3 + n + strspn(name + 3 + n, "0123456789_")];
}

static int which_of(const char *name)
{
    for (int i = 0; i < PRODUCERS; i++)
        if (is_named(name, producer[i].name)) return i;
    return -1;
}

uintptr_t front_producer_of(const char *name, uintptr_t real, uintptr_t bias)
{
    int which = which_of(name);
    for (int i = 0; which >= 0 && i < LIBRARIES; i++) {
        if (library_at[i] && library_at[i] != bias) continue;
        library_at[i] = bias;
        real_of[i][which] = (void *)real;
        return (uintptr_t)producer[which].own[i];
    }
    return 0;
}
