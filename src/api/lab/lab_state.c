/* The variables of a module: a case begins with them as they were when the module was loaded, so that what it shows
 * does not depend on the cases before it. Launches of one case that follow each other keep them. */
#include "lab/lab.h"

enum { STATE_MOST = 1 << 20 }; /* bytes; of a module with more nothing is kept */

/* Reads or writes every variable in global memory, at its place in `state`; counts where that is NULL. */
static bool each_variable(struct lab_subject *s, const struct lab_build *b, u8 *state, bool write, u64 *bytes,
                          struct error *e)
{
    *bytes = 0;
    for (const struct ptx_module *m = b->module->dev->ptx; m; m = m->next)
        for (u32 i = 0; i < m->nvar; i++) {
            const struct ptx_var *v = m->var[i];
            if (!dev_is_stored(v) || v->space != SP_GLOBAL || v->is_extern || v->instead || !v->addr) continue;
            u8 *at = state ? state + *bytes : NULL;
            lk_status status = !at     ? LK_OK
                               : write ? lk_memory_write(s->gpu, v->addr, at, v->size)
                                       : lk_memory_read(s->gpu, v->addr, at, v->size);
            if (status != LK_OK) return error_set(e, ERR_SYSTEM, "%.500s", lk_gpu_error(s->gpu));
            *bytes += v->size;
        }
    return true;
}

bool lab_state_take(struct lab_subject *s, struct lab_build *b, struct error *e)
{
    u64 bytes;
    each_variable(s, b, NULL, false, &bytes, e);
    if (!bytes || bytes > STATE_MOST) return true;
    b->state = base_alloc(bytes);
    return (b->state || error_set(e, ERR_MEMORY, "no memory for the variables of a module")) &&
           each_variable(s, b, b->state, false, &b->state_bytes, e);
}

bool lab_state_put(struct lab_subject *s, const struct lab_build *b, struct error *e)
{
    u64 bytes;
    return !b->state || each_variable(s, b, b->state, true, &bytes, e);
}
