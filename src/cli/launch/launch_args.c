/* The arguments of a launch: held against the kernel's parameters, allocated, filled, and put back before every run.
 *
 * Everything that is wrong with them is said in the source's own types, with what to write instead. A struct is given
 * member by member; the buffers among its members follow the arguments in the list of buffers, and are printed, saved
 * and compared like them. */
#include "cli/cli.h"
#include "launch/launch.h"
#include <inttypes.h>

/* Parameter i for messages: "float *y" from the source, else its PTX type. */
static const char *param_text(struct session *s, u32 i)
{
    lk_param p;
    if (s->signature.params) return s->signature.text[i];
    if (lk_kernel_param(s->kernel, i, &p) != LK_OK) return "?";
    if (p.is_pointer) return "pointer";
    return p.bytes > 8 || !strcmp(p.type, "b8") ? arena_printf(&s->mem, "struct of %u bytes", p.bytes)
                                                : arena_printf(&s->mem, "%s", p.type);
}

static bool count_error(struct session *s, u32 need, struct error *e)
{
    struct text list = { 0 };
    text_add(&list, "%s", "");
    for (u32 i = 0; i < need && list.n < 300; i++) text_add(&list, "%s%s", i ? ", " : "", param_text(s, i));
    error_set(e, ERR_INPUT, "%s takes %u argument%s (%s), and %u %s given", s->name, need, plural(need),
              need ? list.p : "none", s->o->args, s->o->args == 1 ? "was" : "were");
    if (s->o->args < need) snprintf(e->excerpt, sizeof e->excerpt, "%s\n", launch_example(s));
    text_free(&list);
    return false;
}

/* A float where the kernel expects an integer, or the reverse, is a slip of the keyboard; plain bits fit everything. */
static bool class_fits(const struct scalar *t, const char *type)
{
    bool wants_float = type[0] == 'f', wants_int = type[0] == 'u' || type[0] == 's';
    return t->class == SCALAR_BITS || (t->class == SCALAR_FLOAT ? !wants_int || t->bytes == 2 : !wants_float);
}

struct source_type launch_param_type(struct session *s, u32 i, const lk_param *p)
{
    struct source_type t = source_type(p->source_type ? p->source_type : "");
    if (!t.scalar && !t.pointer && s->signature.params) t = source_type(s->signature.text[i]);
    t.pointer |= p->is_pointer != 0;
    return t;
}

const char *launch_value_type(struct session *s, u32 i, const lk_param *p)
{
    struct source_type t = launch_param_type(s, i, p);
    return t.scalar && t.scalar->bytes * t.lanes == p->bytes && t.lanes == 1 ? t.scalar->name : p->type;
}

/* How argument i would be right. */
static const char *way_out(struct session *s, u32 i, const lk_param *p)
{
    const struct arg *g = &s->o->arg[i];
    struct source_type t = launch_param_type(s, i, p);
    if (t.pointer)
        return arena_printf(&s->mem, "pass a buffer, as in %s[100]=zeros, or null", t.scalar ? t.scalar->name : "f32");
    if (launch_is_struct(p))
        return arena_printf(&s->mem, "pass its members, as in {i32:1, f32:2}, or bytes:HEX with %u bytes", p->bytes);
    const char *colon = g->kind == ARG_SCALAR ? strrchr(g->text, ':') : NULL;
    const char *number = colon ? colon + 1 : g->kind == ARG_NUMBER ? g->text : "NUMBER";
    const char *equals = g->kind == ARG_NUMBER ? strchr(g->text, '=') : NULL; /* n=128: the name stays in front */
    if (equals)
        return arena_printf(&s->mem, "write %.*s=%s:%s", (int)(equals - g->text), g->text, launch_value_type(s, i, p),
                            equals + 1);
    return arena_printf(&s->mem, "write %s:%s", launch_value_type(s, i, p), number);
}

/* A struct whose members do not come to the parameter's size: where each of them would lie. */
static bool struct_error(struct session *s, u32 i, u32 bytes, u32 size, struct error *e)
{
    const struct arg *g = &s->o->arg[i];
    struct text t = { 0 };
    for (u32 k = 0; k < g->members && t.n < 200; k++)
        text_add(&t, "%s%.40s at %u", k ? ", " : "", g->member[k].text, g->member[k].at);
    error_set(e, ERR_INPUT, "argument %u: the parameter is %s, %u bytes, and the members come to %u: %s", i,
              param_text(s, i), bytes, size, t.p);
    text_free(&t);
    return false;
}

/* An array of another type than the source has: most often a slip. Plain bits fit everything of their size. */
static void note_type(struct session *s, u32 i, const lk_param *p)
{
    const struct arg *own = &s->o->arg[i], *g = own->kind == ARG_SAME ? launch_arg(s, own->launch, own->same) : own;
    struct source_type t = launch_param_type(s, i, p);
    if (g->kind != ARG_BUFFER || launch_by_contract(s) || !t.pointer || !t.scalar || s->all->asked->run.common.quiet)
        return;
    bool floats = t.scalar->class == SCALAR_FLOAT, given = g->type->class == SCALAR_FLOAT;
    /* narrow floats often travel as integers */
    bool alike = g->type->class == SCALAR_BITS || floats == given || g->type->bytes < 4;
    bool fits = t.scalar->bytes == g->type->bytes && alike;
    if (fits || !strcmp(t.scalar->name, g->type->name)) return;
    fputs("lockstep: ", stderr);
    if (launch_of_several(s)) fprintf(stderr, "launch %u: ", s->number + 1);
    fprintf(stderr, "argument %u: the parameter is %s, and %s is an array of %s", i, param_text(s, i), own->text,
            g->type->name);
    if (own == g) fprintf(stderr, "; %s[...] would be of its type", t.scalar->name);
    fputc('\n', stderr);
}

static bool check_argument(struct session *s, u32 i, struct error *e)
{
    struct arg *g = &s->o->arg[i];
    lk_param p;
    if (lk_kernel_param(s->kernel, i, &p) != LK_OK) return error_set(e, ERR_INPUT, "%.400s", lk_gpu_error(s->gpu));
    if (g->kind == ARG_NUMBER)
        return error_set(e, ERR_INPUT, "argument %u: the parameter is %s, and %s has no type; %s", i, param_text(s, i),
                         g->text, way_out(s, i, &p));
    u32 align = 1, bytes = arg_layout(g, 0, &align);
    if (g->kind == ARG_STRUCT) {
        u32 size = (bytes + p.align - 1) / p.align * p.align;
        return size == p.bytes || struct_error(s, i, p.bytes, size, e);
    }
    if (bytes != p.bytes)
        return error_set(e, ERR_INPUT, "argument %u: the parameter is %s, %u byte%s, and %s passes %u; %s", i,
                         param_text(s, i), p.bytes, plural(p.bytes), g->text, bytes, way_out(s, i, &p));
    if (g->kind == ARG_SCALAR && !class_fits(g->type, p.type))
        return error_set(e, ERR_INPUT, "argument %u: the parameter is %s, and %s is %s; %s", i, param_text(s, i),
                         g->text, g->type->class == SCALAR_FLOAT ? "a float" : "an integer", way_out(s, i, &p));
    note_type(s, i, &p);
    return true;
}

/* The author's name for the parameter, when the PTX or the source has one. */
static void name_buffer(struct session *s, u32 i)
{
    struct buffer *b = &s->buffer[i];
    lk_param p = { 0 };
    const char *name = s->o->arg[i].name;
    if (!name && i < s->signature.params && s->signature.name[i][0]) name = s->signature.name[i];
    if (!name && i < s->o->args && lk_kernel_param(s->kernel, i, &p) == LK_OK && p.name && p.name[0] &&
        !strstr(p.name, "_param_"))
        name = p.name;
    if (name)
        snprintf(b->name, sizeof b->name, "%s", name);
    else
        snprintf(b->name, sizeof b->name, "arg %u", i);
}

/* The buffers inside of a struct come after the arguments, named by the way to them: p.2, p.data. */
static bool add_inner(struct session *s, u32 i, struct arg *g, const char *name, struct error *e)
{
    struct launch_options *o = s->o;
    for (u32 k = 0; k < g->members; k++) {
        struct arg *m = &g->member[k];
        const char *own = m->name ? arena_printf(&s->mem, "%s.%s", name, m->name)
                                  : arena_printf(&s->mem, "%s.%u", name, k);
        if (!launch_same_resolve(s, i, m, e) || !arg_measure(m, i, e)) return false;
        if (m->kind == ARG_STRUCT && !add_inner(s, i, m, own, e)) return false;
        if (m->kind != ARG_BUFFER) continue;
        if (o->all == LAUNCH_ARGS) return error_set(e, ERR_INPUT, "more than %d buffers", LAUNCH_ARGS);
        m->inner = o->all++;
        o->arg[m->inner] = *m;
        o->arg[m->inner].name = own;
    }
    return true;
}

bool launch_args_check(struct session *s, struct error *e)
{
    struct launch_options *o = s->o;
    u32 need = lk_kernel_param_count(s->kernel);
    if (o->args != need) return count_error(s, need, e);
    s->buffer = NEW_ARRAY(&s->mem, struct buffer, LAUNCH_ARGS);
    o->all = o->args;
    for (u32 i = 0; i < need; i++) {
        struct arg *g = &o->arg[i];
        if (!launch_same_resolve(s, i, g, e) || !check_argument(s, i, e) || !arg_measure(g, i, e)) return false;
        name_buffer(s, i);
        if (g->kind == ARG_STRUCT && !add_inner(s, i, g, s->buffer[i].name, e)) return false;
    }
    for (u32 i = need; i < o->all; i++) name_buffer(s, i);
    for (u32 i = 0; i < o->all; i++)
        if (o->arg[i].kind == ARG_BUFFER) arg_type_text(&o->arg[i], s->buffer[i].type, sizeof s->buffer[i].type);
    return launch_names_check(s, e) && launch_wants_resolve(s, e);
}

void launch_put_members(const struct session *s, const struct arg *g, u8 *to)
{
    for (u32 k = 0; k < g->members; k++) {
        const struct arg *m = &g->member[k];
        u64 address = m->kind == ARG_BUFFER ? s->buffer[m->inner].address
                      : m->kind == ARG_SAME ? launch_buffer(s, m->launch, m->same)->address + m->offset
                                            : 0;
        switch (m->kind) {
        case ARG_SCALAR: memcpy(to + m->at, m->value, m->type->bytes); break;
        case ARG_BYTES: memcpy(to + m->at, m->bytes, m->nbytes); break;
        case ARG_STRUCT: launch_put_members(s, m, to); break;
        default: memcpy(to + m->at, &address, 8);
        }
    }
}

/* What is random in an argument depends on the seed and its position: that in the launch, and the launch. */
static u32 position(const struct session *s, u32 i) { return s->number * 2 * LAUNCH_ARGS + i; }

/* Allocates argument i and makes its contents once; launch_args_restore() puts them there before every run. */
static bool make_buffer(struct session *s, u32 i, struct error *e)
{
    struct arg *g = &s->o->arg[i];
    struct buffer *b = &s->buffer[i];
    b->value = &b->address;
    b->value_bytes = 8;
    switch (g->kind) {
    case ARG_SCALAR:
        b->value = g->value;
        b->value_bytes = g->type->bytes;
        return true;
    case ARG_BYTES:
        b->value = g->bytes;
        b->value_bytes = g->nbytes;
        return true;
    case ARG_STRUCT: {
        lk_param p;
        lk_kernel_param(s->kernel, i, &p);
        u8 *bytes = arena_alloc(&s->mem, p.bytes + 8, 16);
        memset(bytes, 0, p.bytes + 8);
        launch_put_members(s, g, bytes);
        b->value = bytes;
        b->value_bytes = p.bytes;
        return true;
    }
    case ARG_NUMBER:
    case ARG_NULL: return true;
    case ARG_SAME: b->address = launch_buffer(s, g->launch, g->same)->address + g->offset; return true;
    case ARG_BUFFER: break;
    }
    b->bytes = g->count * g->type->bytes;
    if (!b->bytes) return true;         /* as cudaMalloc answers: a null pointer */
    b->gone = s->o->part == PART_ALLOC; /* until its turn */
    if (b->gone) return true;
    static const lk_memory_kind kind[] = { LK_MEMORY_DEVICE, LK_MEMORY_PINNED, LK_MEMORY_MANAGED };
    if (lk_memory_alloc(s->gpu, b->bytes, kind[g->memory], b->name, &b->address) != LK_OK)
        return error_set(e, ERR_MEMORY, "argument %u: %.400s", i, lk_gpu_error(s->gpu));
    lk_memory_describe(s->gpu, b->address, b->name, b->type, g->type->bytes);
    if (g->fill.kind == FILL_UNINIT) return true;
    b->initial = base_alloc(b->bytes);
    if (!b->initial) return error_set(e, ERR_MEMORY, "argument %u: no memory for %" PRIu64 " bytes", i, b->bytes);
    u64 seed = s->all->asked->run.inputs;
    if (!g->by_contract) return arg_fill(g, position(s, i), seed, b->initial, e);
    return lk_contract_fill(s->contract, i, seed, b->initial) == LK_OK ||
           error_set(e, ERR_INPUT, "%.400s", lk_gpu_error(s->gpu));
}

bool launch_args_make(struct session *s, struct error *e)
{
    for (u32 i = s->o->args; i < s->o->all; i++)
        if (!make_buffer(s, i, e)) return false;
    for (u32 i = 0; i < s->o->args; i++)
        if (!make_buffer(s, i, e)) return false;
    return true;
}

bool launch_args_restore(struct session *s, struct error *e)
{
    for (u32 i = 0; i < s->o->all; i++) {
        struct buffer *b = &s->buffer[i];
        if (b->initial && lk_memory_write(s->gpu, b->address, b->initial, b->bytes) != LK_OK)
            return error_set(e, ERR_SYSTEM, "argument %u: %.400s", i, lk_gpu_error(s->gpu));
    }
    return true;
}
