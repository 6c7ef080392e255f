/* lockstep compile: a kernel file to PTX, and what its kernels take and use. */
#include "cli/cli.h"
#include "cli/compiling.h"
#include "cli/signature.h"
#include "base/json.h"
#include <inttypes.h>

#define OPTIONS_compile OWN_ROWS
#include "cli/option_own.h"

enum { NAMES_MOST = 64 };

struct compile_request { /* the command line */
    struct arena mem;
    const char *path;
    const char *name[NAMES_MOST];
    u32 names;                 /* kernels, none: all */
    const char *output, *json; /* files, or NULL */
    const char *torch;         /* the folder of a module for PyTorch, or NULL */
    struct compiling compiling;
    struct common common;
};

static bool read_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct compile_request *r = self;
    switch ((enum own_option)o->id) {
    case OWN_OUTPUT: r->output = value; return true;
    case OWN_JSON: r->json = value; return true;
    case OWN_TORCH: r->torch = value; return true;
    }
    return compiling_option(&r->mem, &r->compiling, o->id - O_compile_COMPILER, value, e);
}

/* FILE.cu:KERNEL; further kernels of the same file may follow as FILE.cu:KERNEL or :KERNEL. */
static bool read_word(void *self, const char *word, struct error *e)
{
    struct compile_request *r = self;
    const char *path = r->path, *kernel = NULL;
    if (r->path && word[0] == ':' && word[1])
        kernel = word + 1;
    else if (!compiling_target(&r->mem, "compile", word, &path, &kernel, e))
        return false;
    if (r->path && strcmp(r->path, path))
        return error_set(e, ERR_INPUT, "compile takes one file, and both %.100s and %.100s were given", r->path, path);
    r->path = path;
    if (kernel && r->names == NAMES_MOST) return error_set(e, ERR_INPUT, "more than %d kernels", NAMES_MOST);
    if (kernel) r->name[r->names++] = kernel;
    return true;
}

/* ---- one kernel as text ---- */

static void print_params(lk_kernel *k, const struct signature *s)
{
    u32 n = lk_kernel_param_count(k);
    if (n) printf("    %6s %6s  %-5s type\n", "offset", "bytes", "PTX");
    for (u32 i = 0; i < n; i++) {
        lk_param p;
        if (lk_kernel_param(k, i, &p) != LK_OK) continue;
        const char *name = s->params == n ? s->name[i] : strstr(p.name, "_param_") ? "" : p.name;
        const char *type = p.source_type[0] ? p.source_type
                           : s->params == n ? s->text[i]
                           : p.is_pointer   ? "pointer"
                                            : "";
        /* what the source text says has its name in it */
        bool named = name[0] && (p.source_type[0] || s->params != n);
        printf("    %6u %6u  %-5s %s%s%s\n", p.offset, p.bytes, p.type, type, named && type[0] ? " " : "",
               named ? name : "");
    }
}

static void print_shape(const char *label, const u32 v[3])
{
    if (v[0]) printf("  %-10s %u x %u x %u\n", label, v[0], MAX_OF(v[1], 1u), MAX_OF(v[2], 1u));
}

static void print_usage(const lk_usage *u)
{
    printf("  %-10s %" PRIu64 " bytes%s\n", "shared", u->shared_bytes,
           u->dynamic_shared ? ", and as much as the launch gives" : "");
    printf("  %-10s %" PRIu64 " bytes\n", "local", u->local_bytes);
    printf("  %-10s %" PRIu64 " bytes\n", "constant", u->const_bytes);
    if (u->global_bytes) printf("  %-10s %" PRIu64 " bytes of variables\n", "global", u->global_bytes);
    print_shape("threads", u->required_threads);
    print_shape("at most", u->max_threads);
    print_shape("cluster", u->cluster);
    if (u->min_blocks) printf("  %-10s at least %u on a multiprocessor\n", "blocks", u->min_blocks);
    if (!u->assembled) return;
    printf("  %-10s %u, %u barrier%s\n", "registers", u->registers, u->barriers, plural(u->barriers));
    printf("  %-10s %" PRIu64 " bytes stored, %" PRIu64 " loaded, stack of %" PRIu64 "\n", "spills",
           u->spill_store_bytes, u->spill_load_bytes, u->stack_bytes);
}

static void print_undefined(lk_kernel *k)
{
    const char *name;
    for (u32 i = 0; (name = lk_kernel_undefined(k, i)); i++) printf(i ? ", %s" : "  undefined  %s", name);
    if (lk_kernel_undefined(k, 0)) printf("\n");
}

static void print_kernel(struct compile_request *r, lk_kernel *k)
{
    struct signature s;
    lk_usage u = { .size = sizeof u };
    signature_read(&r->mem, r->path, lk_kernel_file(k), lk_kernel_plain(k), &s);
    lk_kernel_usage(k, &u);
    printf("\n%s\n", lk_kernel_signature(k));
    if (strcmp(lk_kernel_signature(k), lk_kernel_name(k))) printf("  %-10s %s\n", "entry", lk_kernel_name(k));
    printf("  %-10s %" PRIu64 " bytes\n", "parameters", u.param_bytes);
    print_params(k, &s);
    print_usage(&u);
    print_undefined(k);
}

/* ---- and as JSON ---- */

static void add_shape(struct json *j, const char *key, const u32 v[3])
{
    if (v[0]) json_triple(j, key, (u32[]){ v[0], MAX_OF(v[1], 1u), MAX_OF(v[2], 1u) });
}

static void add_params(struct json *j, lk_kernel *k, const struct signature *s)
{
    u32 n = lk_kernel_param_count(k);
    struct json list = json_open(j, "parameters", '[');
    for (u32 i = 0; i < n; i++) {
        lk_param p;
        if (lk_kernel_param(k, i, &p) != LK_OK) continue;
        struct json x = json_open(&list, NULL, '{');
        json_text(&x, "name", s->params == n ? s->name[i] : p.name);
        json_text(&x, "type", p.source_type);
        json_text(&x, "ptx_type", p.type);
        json_number(&x, "offset", p.offset);
        json_number(&x, "bytes", p.bytes);
        json_number(&x, "align", p.align);
        json_end(&x, '}');
    }
    json_end(&list, ']');
}

static void add_kernel(struct compile_request *r, lk_kernel *k, struct json *list)
{
    struct signature s;
    lk_usage u = { .size = sizeof u };
    signature_read(&r->mem, r->path, lk_kernel_file(k), lk_kernel_plain(k), &s);
    lk_kernel_usage(k, &u);
    struct json j = json_open(list, NULL, '{');
    json_text(&j, "name", lk_kernel_plain(k));
    json_text(&j, "signature", lk_kernel_signature(k));
    json_text(&j, "entry", lk_kernel_name(k));
    add_params(&j, k, &s);
    json_number(&j, "parameter_bytes", u.param_bytes);
    json_number(&j, "shared_bytes", u.shared_bytes);
    json_bool(&j, "dynamic_shared", u.dynamic_shared);
    json_number(&j, "local_bytes", u.local_bytes);
    json_number(&j, "constant_bytes", u.const_bytes);
    json_number(&j, "global_bytes", u.global_bytes);
    add_shape(&j, "max_threads", u.max_threads);
    add_shape(&j, "required_threads", u.required_threads);
    add_shape(&j, "cluster", u.cluster);
    if (lk_kernel_undefined(k, 0)) {
        struct json names = json_open(&j, "undefined", '[');
        for (u32 i = 0; lk_kernel_undefined(k, i); i++) json_text(&names, NULL, lk_kernel_undefined(k, i));
        json_end(&names, ']');
    }
    if (u.assembled) {
        json_number(&j, "registers", u.registers);
        json_number(&j, "barriers", u.barriers);
        json_number(&j, "stack_bytes", u.stack_bytes);
        json_number(&j, "spill_store_bytes", u.spill_store_bytes);
        json_number(&j, "spill_load_bytes", u.spill_load_bytes);
    }
    json_end(&j, '}');
}

static bool write_json(struct compile_request *r, lk_module *m, lk_kernel **kernel, u32 n, struct error *e)
{
    struct text t = { 0 };
    struct json all = { .out = &t }, j = json_open(&all, NULL, '{');
    json_text(&j, "format", "lockstep-compile");
    json_number(&j, "version", 1);
    json_text(&j, "file", r->path);
    json_text(&j, "compiler", lk_module_compiler(m));
    json_text(&j, "arch", lk_module_arch(m));
    struct json list = json_open(&j, "kernels", '[');
    for (u32 i = 0; i < n; i++) add_kernel(r, kernel[i], &list);
    json_end(&list, ']');
    json_end(&j, '}');
    text_add(&t, "\n");
    bool ok = file_write(r->json, t.p, t.n, e);
    text_free(&t);
    return ok;
}

/* ---- the verb ---- */

static bool choose(struct compile_request *r, lk_gpu *gpu, lk_module *m, lk_kernel ***kernel, u32 *n, struct error *e)
{
    *n = r->names ? r->names : lk_module_kernel_count(m);
    *kernel = NEW_ARRAY(&r->mem, lk_kernel *, *n + 1);
    for (u32 i = 0; i < *n; i++) {
        (*kernel)[i] = r->names ? lk_module_kernel(m, r->name[i]) : lk_module_kernel_at(m, i);
        if (!(*kernel)[i]) return error_set(e, ERR_INPUT, "%.500s", lk_gpu_error(gpu));
    }
    /* a file of templates is worth a word: what to write */
    if (!*n && !lk_module_kernel(m, NULL)) return error_set(e, ERR_INPUT, "%.500s", lk_gpu_error(gpu));
    return true;
}

static bool write_ptx(struct compile_request *r, lk_gpu *gpu, lk_module *m, struct error *e)
{
    size_t bytes;
    const char *ptx = lk_module_ptx(m, &bytes);
    return ptx ? file_write(r->output, ptx, bytes, e) : error_set(e, ERR_INPUT, "%.500s", lk_gpu_error(gpu));
}

static bool to_stdout(const char *file) { return file && !strcmp(file, "-"); }

static int show(struct compile_request *r, lk_gpu *gpu, lk_module *m, struct error *e)
{
    lk_kernel **kernel;
    u32 n;
    if (!r->common.quiet) fputs(lk_gpu_log(gpu), stderr);
    if (!choose(r, gpu, m, &kernel, &n, e)) return cli_error_value(e);
    lk_status status = lk_module_assemble(m);
    if (status != LK_OK && (status != LK_NOTHING || r->common.verbose))
        fprintf(stderr, "lockstep: %s\n", lk_gpu_error(gpu));
    if (r->output && !write_ptx(r, gpu, m, e)) return cli_error_value(e);
    if (r->json && !write_json(r, m, kernel, n, e)) return cli_error_value(e);
    if (to_stdout(r->output) || to_stdout(r->json) || r->common.quiet) return EXIT_CLEAN;
    if (lk_module_note(m)[0])
        printf("%s\n", lk_module_note(m));
    else
        printf("%s: PTX for %s\n", r->path, lk_module_arch(m));
    for (u32 i = 0; i < n; i++) print_kernel(r, kernel[i]);
    return EXIT_CLEAN;
}

static int compile(struct compile_request *r, struct error *e)
{
    lk_gpu *gpu;
    lk_module *m;
    lk_options o = { .size = sizeof o, .threads = 1 };
    lk_status status = lk_gpu_create(&o, &gpu);
    if (status != LK_OK) return cli_error_status(status, lk_gpu_error(NULL));
    status = compiling_load(&r->compiling, &r->common, gpu, r->path, r->name, r->names, &m);
    int code = status == LK_OK ? show(r, gpu, m, e) : compiling_failed(gpu, r->path, status);
    lk_module_unload(m);
    lk_gpu_destroy(gpu);
    return code;
}

/* The module for PyTorch is made by the Python package, which reads contracts as callers need them. */
static int make_module(struct compile_request *r)
{
    VEC(char *) word = { 0 };
    const struct compiling *c = &r->compiling;
    const struct {
        const char *option, *value;
    } given[] = { { "--torch", r->torch }, { "--arch", c->o.arch }, { "--compiler", c->o.compiler } };
    for (u32 i = 0; i < COUNT_OF(given); i++)
        if (given[i].value) VEC_PUSH(&r->mem, &word, arena_printf(&r->mem, "%s=%s", given[i].option, given[i].value));
    for (u32 i = 0; i < c->flag.n; i++) VEC_PUSH(&r->mem, &word, arena_printf(&r->mem, "--flag=%s", c->flag.p[i]));
    if (c->o.fresh) VEC_PUSH(&r->mem, &word, "--fresh");
    if (r->common.quiet) VEC_PUSH(&r->mem, &word, "--quiet");
    VEC_PUSH(&r->mem, &word, "--");
    VEC_PUSH(&r->mem, &word, (char *)r->path);
    for (u32 i = 0; i < r->names; i++) VEC_PUSH(&r->mem, &word, (char *)r->name[i]);
    VEC_PUSH(&r->mem, &word, NULL);
    return cli_package("_torch_module", word.p);
}

int cmd_compile(int argc, char **argv)
{
    struct error e = { 0 };
    struct compile_request r = { 0 };
    struct parser p = { .verb = VERB_compile, .self = &r, .option = read_option, .word = read_word };
    bool ok = options_parse(&p, argc, argv, &e);
    r.common = p.common;
    if (ok && !r.path)
        ok = error_set(&e, ERR_INPUT, "compile needs a .cu file; lockstep compile --help shows an example");
    const char *reads[] = { r.path };
    ok = ok && (!r.json || option_output("--json", r.json, reads, 1, &e)) &&
         (!r.output || option_output("-o", r.output, reads, 1, &e));
    if (ok && r.torch && (r.output || r.json || r.compiling.link.n))
        ok = error_set(&e, ERR_INPUT, "--torch writes a module of its own, without -o, --json or --link");
    int code = !ok ? cli_error_value(&e) : r.torch ? make_module(&r) : compile(&r, &e);
    arena_free(&r.mem);
    return code;
}
