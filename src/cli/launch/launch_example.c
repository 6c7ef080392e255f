/* Command lines to copy: what is missing in one, and what the host code of a file would launch.
 *
 * Sizes are an example: buffers have 1024 elements, and a number that the kernel takes is 1024, too. What host code
 * says in numbers, a block of 256, is taken from there, and so are the names of its variables: a buffer that two
 * launches share is one buffer. */
#include "cli/cli.h"
#include "launch/launch.h"
#include <stdlib.h>

enum { ELEMENTS = 1024, OFFERED = 8 };

/* A value for parameter i that could be passed, without quotes. */
static const char *example(struct session *s, u32 i)
{
    lk_param p;
    if (lk_kernel_param(s->kernel, i, &p) != LK_OK) return "?";
    struct source_type t = launch_param_type(s, i, &p);
    if (t.pointer)
        return arena_printf(&s->mem, "%s[%d]%s", t.scalar ? t.scalar->name : "f32", ELEMENTS,
                            t.constant ? "=rand" : "=zeros");
    if (launch_is_struct(&p)) return arena_printf(&s->mem, "{STRUCT of %u bytes}", p.bytes);
    const char *type = launch_value_type(s, i, &p);
    if (type[0] == 'f' || type[0] == 'b') return arena_printf(&s->mem, "%s:1", type);
    return arena_printf(&s->mem, "%s:%d", type, ELEMENTS);
}

static void add_word(struct text *t, const char *word)
{
    const char *quote = strpbrk(word, "[]{} $*()<>;&|\"") ? "'" : "";
    text_add(t, " %s%s%s", quote, word, quote);
}

/* What the command line says to the compiler, without what the contract adds. */
static void add_flags(struct text *t, const struct compiling *c)
{
    static const char *const ours[] = { "-I", "-D", "-U", "-std=", "-G", "-O", "--use_fast_math" };
    for (u32 i = c->o.own; i < c->flag.n; i++) {
        bool own = false;
        for (u32 k = 0; k < COUNT_OF(ours); k++) own |= !strncmp(c->flag.p[i], ours[k], strlen(ours[k]));
        const char *quote = strpbrk(c->flag.p[i], "[]{} $*()<>;&|\"") ? "'" : "";
        text_add(t, " %s%s%s%s", quote, own ? "" : "--flag=", c->flag.p[i], quote);
    }
}

static void add_shape(struct text *t, const char *option, const u32 n[3], u32 otherwise)
{
    text_add(t, " --%s %u", option, n[0] ? n[0] : otherwise);
    if (n[0] && (n[1] > 1 || n[2] > 1)) text_add(t, ",%u", n[1]);
    if (n[0] && n[2] > 1) text_add(t, ",%u", n[2]);
}

/* Grid and block as given, else as the host code has them, else so that there is a thread for each element. */
static void add_shapes(struct text *t, const u32 *grid, const u32 *block, const struct source_launch *h)
{
    const u32 *b = block[0] || !h ? block : h->block, *g = grid[0] || !h ? grid : h->grid;
    u64 threads = b[0] ? (u64)b[0] * MAX_OF(b[1], 1u) * MAX_OF(b[2], 1u) : 256;
    add_shape(t, "grid", g, (u32)((ELEMENTS + threads - 1) / threads));
    add_shape(t, "block", b, 256);
}

static const struct source_launch *in_host_code(struct session *s, const char *name)
{
    if (!s->host.launches && !s->host.has_main) host_code_read(&s->mem, s->o->path, &s->host);
    return host_launch_of(&s->host, name);
}

const char *launch_example(struct session *s)
{
    const struct launch_options *o = s->o;
    struct text t = { 0 };
    u32 need = lk_kernel_param_count(s->kernel);
    const char *quote = o->kernel && strpbrk(o->kernel, "<( *&") ? "'" : "";
    text_add(&t, "%s %s%s%s%s%s", s->number ? "... --" : "lockstep launch", quote, o->path, o->kernel ? ":" : "",
             o->kernel ? o->kernel : "", quote);
    add_flags(&t, &o->compiling);
    const struct source_launch *h = in_host_code(s, s->name);
    add_shapes(&t, o->grid, o->block, h);
    if (h && h->shared && !o->shared_given) text_add(&t, " --shared %u", h->shared);
    for (u32 i = 0; i < need; i++) add_word(&t, i < o->args ? o->arg[i].text : example(s, i));
    const char *text = arena_str(&s->mem, (struct str){ t.p, (u32)t.n });
    text_free(&t);
    return text;
}

/* ---- a whole program ---- */

static bool is_name(const char *text)
{
    if (!*text || (*text >= '0' && *text <= '9')) return false;
    for (; *text; text++)
        if (!(*text >= 'a' && *text <= 'z') && !(*text >= 'A' && *text <= 'Z') && !(*text >= '0' && *text <= '9') &&
            *text != '_')
            return false;
    return true;
}

/* A number that the host code passes, as the parameter's type; NULL: it is not one. */
static const char *literal(struct session *s, const struct source_launch *h, u32 i)
{
    lk_param p;
    char *end;
    if (i >= h->args || lk_kernel_param(s->kernel, i, &p) != LK_OK || launch_param_type(s, i, &p).pointer) return NULL;
    (void)double_read(h->arg[i], &end);
    if (end == h->arg[i] || end[strspn(end, "fFuUlL")] || launch_is_struct(&p)) return NULL;
    return arena_printf(&s->mem, "%s:%.*s", launch_value_type(s, i, &p), (int)(end - h->arg[i]), h->arg[i]);
}

typedef VEC(const char *) name_list;

/* Argument i of a launch of the host code: a variable keeps its name, and is what it was when it comes again. */
static void add_host_arg(struct text *t, struct session *s, const struct source_launch *h, u32 i, name_list *known)
{
    const char *name = i < h->args && is_name(h->arg[i]) ? h->arg[i] : NULL;
    for (u32 k = 0; name && k < known->n; k++)
        if (!strcmp(known->p[k], name)) {
            text_add(t, " %s", name);
            return;
        }
    if (name) VEC_PUSH(&s->mem, known, name);
    const char *number = literal(s, h, i);
    if (number) {
        add_word(t, number);
        return;
    }
    add_word(t, name ? arena_printf(&s->mem, "%s=%s", name, example(s, i)) : example(s, i));
}

/* One launch of the host code; false: the module has no such kernel. The session is that of this kernel meanwhile. */
static bool add_host_launch(struct text *t, struct session *s, const struct source_launch *h, name_list *known)
{
    static const u32 none[3];
    bool first = !t->n;
    s->kernel = lk_module_kernel(s->module, h->kernel);
    if (!s->kernel) return false;
    signature_read(&s->mem, s->o->path, lk_kernel_file(s->kernel), lk_kernel_plain(s->kernel), &s->signature);
    if (s->signature.params != lk_kernel_param_count(s->kernel)) s->signature = (struct signature){ 0 };
    text_add(t, first ? "lockstep launch" : " \\\n        --");
    add_word(t, arena_printf(&s->mem, "%s:%s", first ? s->o->path : "", h->kernel));
    if (first) add_flags(t, &s->o->compiling);
    add_shapes(t, none, none, h);
    if (h->shared) text_add(t, " --shared %u", h->shared);
    for (u32 i = 0; i < lk_kernel_param_count(s->kernel); i++) add_host_arg(t, s, h, i, known);
    return true;
}

void launch_offer(struct session *s)
{
    struct text t = { 0 };
    name_list known = { 0 };
    u32 lines = 0;
    if (!s->module || s->number) return;
    in_host_code(s, "");
    for (u32 i = 0; i < s->host.launches && lines < OFFERED; i++)
        lines += add_host_launch(&t, s, &s->host.launch[i], &known);
    if (lines)
        fprintf(stderr, "    %s not run; what it would launch, with sizes and contents to be changed:\n    %s\n",
                s->host.has_main ? "main is" : "host code is", t.p);
    else if (s->host.has_main)
        fprintf(stderr, "    main is not run: a kernel is launched with arguments from the command line\n");
    text_free(&t);
}
