/* What the command does in the process of a C function that is an oracle (`test --reference FILE FUNCTION`): loads it,
 * and calls it for each case that comes over the socket. */
#include "lab/lab_outside.h"
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { NAME_MOST = 4096, NAMES_MOST = 4096 }; /* bytes of a name; names */
enum { GUARD = 8 };                           /* elements after every array, which nobody may write */
/* A NaN that no arithmetic makes: what outputs hold before the call, and guards all the time. */
static const u64 untouched = 0xfffdfeadfeadfeadu;

static bool get(void *p, size_t n) { return file_get(OUTSIDE_FD, p, n); }

static bool put(enum outside_kind kind, const char *bytes, u64 n)
{
    struct outside_head head = { OUTSIDE_MAGIC, kind, n };
    return file_put(OUTSIDE_FD, &head, sizeof head) && file_put(OUTSIDE_FD, bytes, n);
}

static void fill(double *p, u64 n)
{
    for (u64 i = 0; i < n; i++) memcpy(&p[i], &untouched, sizeof *p);
}

static bool is_untouched(const double *p) { return !memcmp(p, &untouched, sizeof *p); }

struct reference_asked {
    lk_reference_value *list;
    bool *out;
    u32 n;
};

static bool read_value(struct arena *mem, lk_reference_value *v, bool *out)
{
    u32 part[3]; /* length, flags, rank */
    if (!get(part, sizeof part) || part[0] > NAME_MOST || part[2] > COUNT_OF(v->dim)) return false;
    char *name = arena_alloc(mem, part[0] + 1, 1);
    if (!get(name, part[0]) || !get(v->dim, part[2] * sizeof *v->dim)) return false;
    v->name = name;
    v->rank = part[2];
    v->count = 1;
    for (u32 i = 0; i < v->rank; i++) {
        if (v->dim[i] && v->count > OUTSIDE_ELEMENTS / v->dim[i]) return false;
        v->count *= v->dim[i];
    }
    *out = part[1] & OUTSIDE_OUT;
    v->value = arena_alloc(mem, (v->count + GUARD) * sizeof(double), 16);
    fill(v->value, v->count + GUARD);
    if ((part[1] & OUTSIDE_IN) && !get(v->value, v->count * sizeof(double))) return false;
    if (!*out) return true;
    v->bound = arena_alloc(mem, (v->count + GUARD) * sizeof(double), 16);
    for (u64 i = 0; i < v->count; i++) v->bound[i] = -1;
    fill(v->bound + v->count, GUARD);
    return true;
}

static bool read_question(struct arena *mem, struct reference_asked *a)
{
    struct outside_head head;
    if (!get(&head, sizeof head) || head.magic != OUTSIDE_MAGIC || !get(&a->n, sizeof a->n) || a->n > NAMES_MOST)
        return false;
    a->list = NEW_ARRAY(mem, lk_reference_value, a->n + 1);
    a->out = NEW_ARRAY(mem, bool, a->n + 1);
    for (u32 i = 0; i < a->n; i++)
        if (!read_value(mem, &a->list[i], &a->out[i])) return false;
    return true;
}

/* What the function has done that it may not; "": nothing. */
static void look(const struct reference_asked *a, int status, char *why, size_t size)
{
    why[0] = 0;
    if (status) snprintf(why, size, "returns %d", status);
    for (u32 i = 0; i < a->n && !why[0]; i++) {
        const lk_reference_value *v = &a->list[i];
        for (u32 k = 0; k < GUARD && !why[0]; k++)
            if (!is_untouched(&v->value[v->count + k]) || (v->bound && !is_untouched(&v->bound[v->count + k])))
                snprintf(why, size, "writes past the end of %.100s", v->name);
        for (u64 k = 0; a->out[i] && k < v->count && !why[0]; k++)
            if (is_untouched(&v->value[k]))
                snprintf(why, size, "leaves element %llu of %.100s unwritten", (unsigned long long)k, v->name);
    }
}

static bool answer(lk_reference *function)
{
    struct arena mem = { 0 };
    struct reference_asked a;
    struct text t = { 0 };
    char why[200];
    bool ok = read_question(&mem, &a);
    if (ok) {
        look(&a, function(a.list, a.n), why, sizeof why);
        for (u32 i = 0; i < a.n && !why[0]; i++) {
            const lk_reference_value *v = &a.list[i];
            u64 bounded = v->count && a.out[i] && v->bound[0] != -1;
            if (!a.out[i]) continue;
            text_put(&t, (const char *)&bounded, sizeof bounded);
            text_put(&t, (const char *)v->value, v->count * sizeof(double));
            if (bounded) text_put(&t, (const char *)v->bound, v->count * sizeof(double));
        }
        ok = why[0] ? put(OUTSIDE_FAILED, why, strlen(why)) : put(OUTSIDE_ANSWER, t.p, t.n);
    }
    text_free(&t);
    arena_free(&mem);
    return ok;
}

lk_status lk_reference_serve(const char *path, const char *name)
{
    if (!path || !name) return HOST_MISSING(NULL, path ? "name of the function" : "path");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    lk_reference *function = NULL;
    void *symbol = library ? dlsym(library, name) : NULL;
    const char *why = symbol ? NULL : dlerror();
    memcpy(&function, &symbol, sizeof function);
    if (!function) {
        if (!why) why = "the function is not a function";
        put(OUTSIDE_UNLOADED, why, strlen(why));
        return LK_BAD_INPUT;
    }
    if (!put(OUTSIDE_READY, "", 0)) return LK_BAD_INPUT;
    while (answer(function)) continue;
    return LK_OK;
}
