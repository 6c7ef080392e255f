/* What a launch is given as arguments: read only where it can be read, held against the parameters of the kernel, and
 * packed as the device wants them. What is certainly wrong is refused here, with the number of the argument, what the
 * kernel takes and what was given, before anything runs: a GPU would give error 700 some calls later, or die. A pointer
 * that merely leads nowhere is no such thing, since the kernel may not follow it. */
#include "gpu/dev_gpu.h"
#include "api/host.h"
#include "mem/host_pointer.h"
#include <inttypes.h>

/* No address of a GPU or a host has more bits. */
enum { ADDRESS_BITS = 49 };

/* ---- messages ---- */

/* "argument 1 (x, const float*)", as much of it as is known. */
static const char *argument_text(const lk_kernel *k, u32 i, char out[200])
{
    const char *type = k->param_type[i];
    struct ptx_argument a = ptx_argument(k->func, i);
    snprintf(out, 200, "%.80s%s%.90s%s", a.text, *type ? " (" : "", type, *type ? ")" : "");
    return out;
}

static bool size_wrong(const lk_kernel *k, u32 i, u64 given, struct error *e)
{
    char text[200];
    return error_set(e, ERR_INPUT, "%s: the kernel expects %u bytes at offset %u (.%s), %" PRIu64 " given",
                     argument_text(k, i, text), k->arg[i].bytes, k->arg[i].offset, type_name[k->func->param[i]->type],
                     given);
}

/* What is at an address, for a sentence; false: no memory of a gpu. */
static bool memory_text(struct device *d, u64 address, char *out, size_t size)
{
    struct dev_address at;
    if (!dev_address(d, address, &at)) return false;
    snprintf(out, size, "%s `%.60s` (%" PRIu64 " bytes)", dev_kind_name[at.object->kind], at.object->name,
             at.object->size);
    return true;
}

/* args[i] leads to nothing that can be read: most often it is the value that it should point to. */
static bool place_wrong(const lk_kernel *k, u32 i, const void *given, struct error *e)
{
    char text[200], memory[160];
    struct device *d = k->module->gpu->device;
    argument_text(k, i, text);
    if (memory_text(d, (u64)(uintptr_t)given, memory, sizeof memory))
        return error_set(e, ERR_INPUT,
                         "%s: args[%u] is the address of %s itself; args has pointers to the values, so give the "
                         "address of the variable that holds it",
                         text, i, memory);
    return error_set(e, ERR_INPUT,
                     "%s: args[%u] is 0x%" PRIx64 ", where nothing can be read; args has pointers to the values, so "
                     "give the address of a variable of %u bytes",
                     text, i, (u64)(uintptr_t)given, k->arg[i].bytes);
}

static bool count_check(const lk_kernel *k, const lk_launch *l, struct error *e)
{
    u32 n = k->func->nparam;
    if (l->arg_count == n) return true;
    return error_set(e, ERR_INPUT, "%s takes %u argument%s, %u given%s%s", k->plain, n, plural(n), l->arg_count,
                     strcmp(k->signature, k->plain) ? ": it is " : "",
                     strcmp(k->signature, k->plain) ? k->signature : "");
}

/* ---- pointers ---- */

/* Only memory that a call frees at once: what is freed in the order of a stream may be there again when it runs. */
static bool is_freed(const struct mem_object *o)
{
    bool at_once = o->kind == MEM_DEVICE || o->kind == MEM_PINNED || o->kind == MEM_MANAGED;
    return at_once && __atomic_load_n(&o->state, __ATOMIC_ACQUIRE) == MEM_FREED && !o->kept;
}

static bool pointer_wrong(const lk_kernel *k, u32 i, u64 value, struct error *e)
{
    char text[200], where[200];
    struct device *d = k->module->gpu->device;
    const struct mem_object *o = d->ops->find(d, value);
    struct host_pointer h;
    if (o && !is_freed(o)) return false;
    argument_text(k, i, text);
    if (o) {
        error_set(e, ERR_INPUT, "%s points into %s `%.60s` (%" PRIu64 " bytes), which has been freed", text,
                  dev_kind_name[o->kind], o->name, o->size);
        return true;
    }
    if (value >> ADDRESS_BITS) {
        error_set(e, ERR_INPUT,
                  "%s: the 8 bytes that are given, 0x%" PRIx64
                  ", are not the address of anything; was an array given in "
                  "place of the variable that holds its device address?",
                  text, value);
        return true;
    }
    if (d->card->pageable || (d->gpu && gpu_knows(d, value)) || !host_pointer_look(d->mem, value, &h)) return false;
    host_pointer_text(&h, where, sizeof where);
    error_set(e, ERR_INPUT, "%s is a pointer of the host, into %.150s; give memory of lk_memory_alloc, or register it",
              text, where);
    return true;
}

/* Those of a launch that is packed, or whose driver reads them itself. */
static bool pointers_check(const lk_kernel *k, const struct dev_launch *l, struct error *e)
{
    struct device *d = k->module->gpu->device;
    if (d->mem && !(d->options.checks & CHECK_LAUNCH)) return true;
    for (u32 i = 0; i < k->func->nparam; i++) {
        u64 value;
        if (!k->arg[i].is_pointer) continue;
        memcpy(&value, l->args ? l->args[i] : (const u8 *)l->params + k->arg[i].offset, 8);
        if (value && pointer_wrong(k, i, value, e)) return false;
    }
    return true;
}

/* ---- args ---- */

/* Most arguments have 4 or 8 bytes, which need no call. */
static void argument_copy(u8 *to, const void *from, u32 bytes)
{
    u64 eight;
    u32 four;
    if (bytes == 8) {
        memcpy(&eight, from, 8);
        memcpy(to, &eight, 8);
    } else if (bytes == 4) {
        memcpy(&four, from, 4);
        memcpy(to, &four, 4);
    } else {
        memcpy(to, from, bytes);
    }
}

/* Whether each can be read, and has the size that the caller says. */
static bool places_check(const lk_kernel *k, const lk_launch *l, struct error *e)
{
    char text[200];
    if (l->arg_count && (!l->args || !bytes_readable(l->args, l->arg_count * sizeof *l->args)))
        return error_set(e, ERR_INPUT, "%s takes %u argument%s, and no list of pointers to their values can be read",
                         k->plain, l->arg_count, plural(l->arg_count));
    for (u32 i = 0; i < l->arg_count; i++) {
        u32 bytes = k->arg[i].bytes;
        if (unlikely(l->arg_bytes && l->arg_bytes[i] != bytes)) return size_wrong(k, i, l->arg_bytes[i], e);
        if (unlikely(!l->args[i]))
            return error_set(e, ERR_INPUT, "%s: no pointer to its value is given", argument_text(k, i, text));
        if (unlikely(bytes && !bytes_readable(l->args[i], bytes))) return place_wrong(k, i, l->args[i], e);
    }
    return true;
}

/* ---- values ---- */

static const struct {
    const char *name;
    u8 bytes;
    char class; /* i, f, or p: an address */
} value_kinds[] = {
    [LK_VALUE_NULL] = { "null", 8, 'p' },       [LK_VALUE_BUFFER] = { "a buffer", 8, 'p' },
    [LK_VALUE_I8] = { "an i8", 1, 'i' },        [LK_VALUE_U8] = { "a u8", 1, 'i' },
    [LK_VALUE_I16] = { "an i16", 2, 'i' },      [LK_VALUE_U16] = { "a u16", 2, 'i' },
    [LK_VALUE_I32] = { "an i32", 4, 'i' },      [LK_VALUE_U32] = { "a u32", 4, 'i' },
    [LK_VALUE_I64] = { "an i64", 8, 'i' },      [LK_VALUE_U64] = { "a u64", 8, 'i' },
    [LK_VALUE_F32] = { "an f32", 4, 'f' },      [LK_VALUE_F64] = { "an f64", 8, 'f' },
    [LK_VALUE_STRUCT] = { "a struct", 0, 's' },
};

/* Whether a value of this class may stand for the parameter: f for .f32 and .f64, and an address where one is taken. */
static bool class_fits(const lk_kernel *k, u32 i, char class)
{
    const char *type = k->param_type[i];
    char of = type_name[k->func->param[i]->type][0];
    if (class == 's') return true;
    if (k->func->param[i]->ndims) return false; /* a struct, or an array of bytes */
    if (class == 'p') return of != 'f' && (!*type || k->arg[i].is_pointer || of == 'b');
    if (of == 'f') return class == 'f';
    return class == 'i' ? !k->arg[i].is_pointer : of == 'b';
}

static bool value_pack(const lk_kernel *k, u32 i, const lk_value *v, u8 *to, struct error *e)
{
    char text[200];
    argument_text(k, i, text);
    if (v->kind >= COUNT_OF(value_kinds))
        return error_set(e, ERR_INPUT,
                         "%s: there is no kind %u of values; zero an lk_value, or make it with "
                         "lk_value_i32 and its like",
                         text, v->kind);
    bool is_struct = v->kind == LK_VALUE_STRUCT;
    u32 bytes = is_struct ? v->bytes : value_kinds[v->kind].bytes;
    if (bytes != k->arg[i].bytes || !class_fits(k, i, value_kinds[v->kind].class))
        return error_set(e, ERR_INPUT, "%s: the kernel expects %u bytes at offset %u (.%s), %s of %u bytes is given",
                         text, k->arg[i].bytes, k->arg[i].offset, type_name[k->func->param[i]->type],
                         value_kinds[v->kind].name, bytes);
    if (is_struct && !bytes_readable(v->as.data, bytes))
        return error_set(e, ERR_INPUT, "%s: the %u bytes of the struct cannot be read", text, bytes);
    u64 none = 0;
    argument_copy(to, is_struct ? v->as.data : v->kind == LK_VALUE_NULL ? (const void *)&none : &v->as, bytes);
    return true;
}

/* ---- all of them ---- */

static bool pack(const lk_kernel *k, struct host_launch *h, struct error *e)
{
    const struct ptx_func *f = k->func;
    const lk_launch *l = h->in;
    if (f->param_bytes > sizeof h->small && !(h->params = base_alloc(f->param_bytes))) {
        h->params = h->small;
        return error_set(e, ERR_MEMORY, "out of memory");
    }
    if (h->params == h->small) /* what lies between parameters; `small` has room for whole words of 16 bytes */
        for (u64 i = 0; i < f->param_bytes; i += 16) memset(h->small + i, 0, 16);
    for (u32 i = 0; i < f->nparam; i++) {
        u8 *to = h->params + k->arg[i].offset;
        if (!l->values)
            argument_copy(to, l->args[i], k->arg[i].bytes);
        else if (!value_pack(k, i, &l->values[i], to, e))
            return false;
    }
    h->task.launch.params = h->params;
    return true;
}

bool host_arguments(const lk_kernel *k, struct host_launch *h, struct error *e)
{
    const lk_launch *l = h->in;
    struct device *d = k->module->gpu->device;
    if (!count_check(k, l, e)) return false;
    if (l->values && l->arg_count && !bytes_readable(l->values, l->arg_count * sizeof *l->values))
        return error_set(e, ERR_INPUT, "%s takes %u argument%s, and no list of values can be read", k->plain,
                         l->arg_count, plural(l->arg_count));
    if (!l->values && !places_check(k, l, e)) return false;
    if (d->gpu && !l->values && !l->contract && l->arg_count)
        h->task.launch.args = l->args; /* a real GPU's driver takes the pointers as they are */
    else if (!pack(k, h, e))
        return false;
    return l->as_given || (pointers_check(k, &h->task.launch, e) && dev_pointers_own(d, &h->task.launch, e));
}
