/* --set of `lockstep launch`: variables of the module get their values before the launch. */
#include "cli/cli.h"
#include "launch/launch.h"
#include <inttypes.h>

/* Whether a struct has members that point to memory: only arguments have buffers inside of structs. */
static bool has_pointers(const struct arg *g)
{
    for (u32 k = 0; k < g->members; k++)
        if (g->member[k].kind == ARG_BUFFER || g->member[k].kind == ARG_SAME || has_pointers(&g->member[k]))
            return true;
    return false;
}

struct target {         /* a variable, and what it is given */
    u64 address, bytes; /* of the variable */
    u64 own;            /* bytes of what it is given */
    bool points;        /* the variable is a pointer, which gets a buffer of its own */
};

static bool find_target(struct session *s, const struct set *v, struct target *t, struct error *e)
{
    const struct arg *g = &v->arg;
    if (lk_module_symbol(s->module, v->name, &t->address, &t->bytes) != LK_OK)
        return error_set(e, ERR_INPUT, "--set %.60s: %.400s", v->name, lk_gpu_error(s->gpu));
    u32 align;
    struct arg copy = *g;
    bool buffer = g->kind == ARG_BUFFER;
    t->own = buffer ? g->count * g->type->bytes : arg_layout(&copy, 0, &align);
    t->points = buffer && t->own != t->bytes && t->bytes == 8;
    if (g->kind == ARG_NUMBER || g->kind == ARG_SAME)
        return error_set(e, ERR_INPUT,
                         "--set %.60s=%.60s: a value with its type belongs here, as in i32:5, or f32[16]=rand", v->name,
                         v->text);
    if (has_pointers(g))
        return error_set(e, ERR_INPUT, "--set %.60s=%.60s: buffers inside of structs belong to arguments", v->name,
                         v->text);
    return t->own == t->bytes || t->points ||
           error_set(e, ERR_INPUT, "--set %.60s: the variable has %" PRIu64 " bytes, and %.60s has %" PRIu64, v->name,
                     t->bytes, v->text, t->own);
}

static bool set_one(struct session *s, const struct set *v, u32 number, struct error *e)
{
    const struct arg *g = &v->arg;
    struct target t;
    if (!find_target(s, v, &t, e)) return false;
    u8 *data = base_alloc(MAX_OF(t.own, t.bytes) + 8);
    if (!data) return error_set(e, ERR_MEMORY, "--set %.60s: no memory for %" PRIu64 " bytes", v->name, t.own);
    bool ok = true, buffer = g->kind == ARG_BUFFER;
    if (buffer)
        ok = arg_fill(g, number, s->all->asked->run.inputs, data, e);
    else if (g->kind == ARG_STRUCT) {
        struct arg copy = *g;
        u32 align;
        arg_layout(&copy, 0, &align);
        launch_put_members(s, &copy, data);
    } else
        memcpy(data,
               g->kind == ARG_SCALAR  ? g->value
               : g->kind == ARG_BYTES ? g->bytes
                                      : (const u8 *)"\0\0\0\0\0\0\0",
               t.own);
    u64 to = t.address;
    if (ok && t.points)
        ok = lk_memory_alloc(s->gpu, t.own, LK_MEMORY_DEVICE, v->name, &to) == LK_OK &&
             lk_memory_write(s->gpu, t.address, &to, 8) == LK_OK;
    ok = ok && (g->fill.kind == FILL_UNINIT && buffer ? true : lk_memory_write(s->gpu, to, data, t.own) == LK_OK);
    base_free(data);
    return ok || error_set(e, ERR_INPUT, "--set %.60s: %.400s", v->name, lk_gpu_error(s->gpu));
}

bool launch_sets_check(struct session *s, struct error *e)
{
    struct target t;
    for (u32 i = 0; i < s->o->sets; i++)
        if (!find_target(s, &s->o->set[i], &t, e)) return false;
    return true;
}

bool launch_sets_do(struct session *s, struct error *e)
{
    for (u32 i = 0; i < s->o->sets; i++)
        if (!set_one(s, &s->o->set[i], (2 * s->number + 1) * LAUNCH_ARGS + i, e)) return false;
    return true;
}
