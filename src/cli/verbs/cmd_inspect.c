/* lockstep inspect: the device code of a file as a person reads it. A table of images for each fatbin, then its
 * kernels, each once, with a line for every image that has it. */
#include "verbs/inspect.h"
#include <inttypes.h>

#define OPTIONS_inspect OWN_ROWS
#include "cli/option_own.h"

void inspect_damaged(struct inspect *a)
{
    if (!a->damage[0]) snprintf(a->damage, sizeof a->damage, "%s", lk_images_error(a->images));
}

bool inspect_code(struct inspect *a, u32 image, lk_image_code *out)
{
    *out = (lk_image_code){ .size = sizeof *out };
    lk_status status = lk_images_code(a->images, image, out);
    if (status != LK_OK && status != LK_NOTHING) inspect_damaged(a);
    return status == LK_OK;
}

bool inspect_kernel(struct inspect *a, u32 image, u32 kernel, lk_image_kernel *out)
{
    *out = (lk_image_kernel){ .size = sizeof *out };
    return lk_images_kernel(a->images, image, kernel, out) == LK_OK;
}

static lk_image image_at(struct inspect *a, u32 i)
{
    lk_image m = { .size = sizeof m };
    lk_images_at(a->images, i, &m);
    return m;
}

static const char *device_name(const struct inspect *a) { return a->device ? a->device : lk_device_name(0); }

/* ---- the table of images ---- */

/* "PTX 9.0", "CUDA 13.0" */
static void made_by(const lk_image *m, bool has_code, const lk_image_code *c, char out[24])
{
    out[0] = 0;
    if (!strcmp(m->kind, "PTX") && (m->major || m->minor))
        snprintf(out, 24, "PTX %u.%u", m->major % 1000, m->minor % 1000);
    else if (has_code && c->toolkit && c->toolkit < 10000)
        snprintf(out, 24, "CUDA %u.%u", c->toolkit / 10, c->toolkit % 10);
}

static void print_image(struct inspect *a, u32 i)
{
    lk_image m = image_at(a, i);
    lk_image_code c;
    char made[24], number[24];
    bool has_code = inspect_code(a, i, &c);
    made_by(&m, has_code, &c, made);
    snprintf(number, sizeof number, "kind %u", m.kind_number);
    printf("  %3u  %-9s %-8s %-9s %-5s %9" PRIu64 " %9" PRIu64 " %-5s %s\n", i + 1, m.kind[0] ? m.kind : number, m.arch,
           made,
           !has_code ? ""
           : c.debug ? "debug"
           : c.lines ? "yes"
                     : "no",
           m.bytes, m.stored_bytes, m.packing, lk_images_verdict(a->images, i, a->device, a->strict));
    if (m.options[0]) printf("       options: %s\n", m.options);
    if (a->common.verbose && has_code && c.tool_options[0]) printf("       made by: %s: %s\n", c.tool, c.tool_options);
}

/* The source that all its images name, or "". */
static const char *source_of(struct inspect *a, const lk_fatbin *b)
{
    const char *source = b->count ? image_at(a, b->first).identifier : "";
    for (u32 i = 1; i < b->count; i++)
        if (strcmp(source, image_at(a, b->first + i).identifier)) return "";
    return source;
}

/* Whether one of its images may have some; an executable that nvcc links has a fatbin without any. */
static bool has_kernels_maybe(struct inspect *a, const lk_fatbin *b)
{
    lk_image_code c;
    for (u32 i = 0; i < b->count; i++)
        if (!inspect_code(a, b->first + i, &c) || c.kernels) return true;
    return false;
}

static void print_fatbin(struct inspect *a, u32 i, u32 fatbins, const lk_fatbin *b)
{
    const char *source = source_of(a, b);
    lk_image_choice c;
    if (fatbins > 1 || b->section[0] || source[0]) {
        printf("\nfatbin");
        if (fatbins > 1) printf(" %u of %u", i + 1, fatbins);
        if (b->section[0]) printf(", %s at 0x%" PRIx64, b->section, b->at);
        if (b->member[0]) printf(", member %s", b->member);
        if (source[0]) printf(", from %s", source);
        printf("\n");
    }
    if (!b->count) {
        printf("\n  no images in it\n");
        return;
    }
    char on[64];
    if (lk_images_choose(a->images, i, a->device, a->strict, &c) != LK_OK) return;
    snprintf(on, sizeof on, "on %s (sm_%u)", device_name(a), c.sm);
    printf("\n  %3s  %-9s %-8s %-9s %-5s %9s %9s %-5s %s\n", "#", "kind", "arch", "made by", "lines", "bytes",
           "in file", "", on);
    for (u32 k = 0; k < b->count; k++) print_image(a, b->first + k);
    if (c.image < 0 && !has_kernels_maybe(a, b))
        printf("\n  no kernels in it\n");
    else if (c.why[0] || c.note[0]) {
        const char *label = c.why[0] ? "  nothing loads: " : "  note: ";
        printf("\n%s", label);
        cli_wrapped(stdout, c.why[0] ? c.why : c.note, (u32)strlen(label), 4);
    }
}

/* ---- kernels ---- */

struct kernel_use {          /* a kernel in one image */
    u32 image, kernel;       /* which */
    struct kernel_use *next; /* in the next image that has it */
};
struct shared_kernel {       /* one kernel of a fatbin, by its name */
    lk_image_kernel first;   /* as the first image that has it says */
    struct kernel_use *use;  /* that image, then the others */
    struct kernel_use *last; /* the end of that list */
    bool dynamic, grid;      /* whether any image says so */
};
typedef VEC(struct shared_kernel) kernel_list;

static void merge_shape(u32 to[3], const u32 from[3])
{
    if (!to[0]) memcpy(to, from, 3 * sizeof *to);
}

/* What any image says holds for the kernel: code for an older architecture has no clusters, a cubin does not tell of
 * the grid. */
static void merge(struct shared_kernel *to, const lk_image_kernel *from)
{
    to->dynamic |= from->dynamic_shared != 0;
    to->grid |= from->grid_sync != 0;
    merge_shape(to->first.max_threads, from->max_threads);
    merge_shape(to->first.required_threads, from->required_threads);
    merge_shape(to->first.cluster, from->cluster);
    to->first.max_cluster = MAX_OF(to->first.max_cluster, from->max_cluster);
}

static void collect_image(struct inspect *a, struct arena *mem, u32 image, struct map *seen, kernel_list *list)
{
    lk_image_code c;
    if (!inspect_code(a, image, &c)) return;
    for (u32 k = 0; k < c.kernels; k++) {
        struct shared_kernel s = { 0 };
        if (!inspect_kernel(a, image, k, &s.first)) continue;
        struct kernel_use *use = NEW(mem, struct kernel_use);
        *use = (struct kernel_use){ .image = image, .kernel = k };
        u32 at = (u32)(uintptr_t)map_get(seen, str_of(s.first.name)); /* number in the list + 1 */
        if (at) {
            list->p[at - 1].last->next = use;
        } else {
            s.use = use;
            VEC_PUSH(mem, list, s);
            at = list->n;
            map_put(mem, seen, str_of(s.first.name), (void *)(uintptr_t)at);
        }
        list->p[at - 1].last = use;
        merge(&list->p[at - 1], &s.first);
    }
}

static void print_shape(const char *label, const char *before, const u32 v[3])
{
    if (v[0]) printf("  %-10s %s%u x %u x %u\n", label, before, v[0], MAX_OF(v[1], 1u), MAX_OF(v[2], 1u));
}

static void print_params(struct inspect *a, const struct shared_kernel *s)
{
    printf("  %-10s %u bytes\n", "parameters", s->first.param_bytes);
    bool typed = false; /* one that is not of C++ has no types */
    for (u32 p = 0; p < s->first.params; p++) {
        lk_image_param x;
        typed |= lk_images_param(a->images, s->use->image, s->use->kernel, p, &x) == LK_OK && x.type[0];
    }
    if (s->first.params) printf("    %6s %6s%s\n", "offset", "bytes", typed ? "  type" : "");
    for (u32 p = 0; p < s->first.params; p++) {
        lk_image_param x;
        if (lk_images_param(a->images, s->use->image, s->use->kernel, p, &x) != LK_OK) break;
        printf("    %6u %6u%s%s\n", x.offset, x.bytes, x.type[0] ? "  " : "", x.type);
    }
}

/* What one image has of it. */
static void print_use(struct inspect *a, u32 image, const lk_image_kernel *k)
{
    lk_image m = image_at(a, image);
    printf("    %3u  %-5s %-8s", image + 1, m.kind, m.arch);
    if (k->assembled)
        printf(" %9u %8" PRIu64 " %8" PRIu64 " %8u %8" PRIu64 "\n", k->registers, k->stack_bytes, k->shared_bytes,
               k->barriers, k->code_bytes);
    else
        printf(" %9s %8" PRIu64 " %8" PRIu64 " %8s %8s\n", "-", k->stack_bytes, k->shared_bytes, "-", "-");
}

static void print_kernel(struct inspect *a, const struct shared_kernel *s)
{
    const lk_image_kernel *k = &s->first;
    printf("\n%s\n", k->signature);
    if (strcmp(k->signature, k->name)) printf("  %-10s %s\n", "entry", k->name);
    print_params(a, s);
    print_shape("threads", "", k->required_threads);
    print_shape("threads", "at most ", k->max_threads);
    print_shape("cluster", "", k->cluster);
    if (k->max_cluster) printf("  %-10s at most %u blocks\n", "cluster", k->max_cluster);
    if (s->dynamic) printf("  %-10s as much more as the launch gives\n", "shared");
    if (s->grid) printf("  %-10s yes: it needs a cooperative launch\n", "grid sync");
    printf("    %3s  %-5s %-8s %9s %8s %8s %8s %8s\n", "#", "kind", "arch", "registers", "stack", "shared", "barriers",
           "code");
    for (const struct kernel_use *u = s->use; u; u = u->next) {
        lk_image_kernel other;
        if (inspect_kernel(a, u->image, u->kernel, &other)) print_use(a, u->image, &other);
    }
}

static void print_kernels(struct inspect *a, const lk_fatbin *b)
{
    struct arena mem = { 0 };
    kernel_list list = { 0 };
    struct map seen = { 0 };
    for (u32 i = b->first; i < b->first + b->count; i++) collect_image(a, &mem, i, &seen, &list);
    for (u32 i = 0; i < list.n; i++) print_kernel(a, &list.p[i]);
    arena_free(&mem);
}

static void print_all(struct inspect *a)
{
    lk_fatbin b = { .size = sizeof b };
    lk_image m = { .size = sizeof m };
    u32 fatbins = 0, images = 0;
    while (lk_images_fatbin(a->images, fatbins, &b)) fatbins++;
    while (lk_images_at(a->images, images, &m)) images++;
    const char *machine = lk_images_machine(a->images);
    printf("%s: %s%s%s, %u image%s", a->path, lk_images_kind(a->images), machine[0] ? " for " : "", machine, images,
           plural(images));
    if (fatbins > 1) printf(" in %u fatbins", fatbins);
    printf("\n");
    for (u32 i = 0; lk_images_fatbin(a->images, i, &b); i++) {
        print_fatbin(a, i, fatbins, &b);
        if (!a->common.quiet) print_kernels(a, &b);
    }
}

/* ---- the verb ---- */

/* The image that --ptx names, -1: none. */
static s32 image_named(struct inspect *a, struct error *e)
{
    u64 number;
    lk_image m = { .size = sizeof m };
    if (option_whole(a->ptx, UINT32_MAX, &number) && number && lk_images_at(a->images, (u32)number - 1, &m)) {
        if (!strcmp(m.kind, "PTX")) return (s32)number - 1;
        return error_set(e, ERR_INPUT, "--ptx %.20s: image %.20s is %s for %s, not PTX", a->ptx, a->ptx,
                         m.kind[0] ? m.kind : "something else", m.arch),
               -1;
    }
    const char *arch = !strncmp(a->ptx, "compute_", 8) ? a->ptx + 8 : !strncmp(a->ptx, "sm_", 3) ? a->ptx + 3 : "";
    for (u32 i = 0; lk_images_at(a->images, i, &m); i++)
        if (!strcmp(m.kind, "PTX") && !strcmp(m.arch + 3, arch)) return (s32)i;
    return error_set(e, ERR_INPUT, "--ptx %.20s: the file has no such PTX; lockstep inspect %.200s lists its images",
                     a->ptx, a->path),
           -1;
}

static int write_ptx(struct inspect *a, struct error *e)
{
    const char *text;
    size_t bytes;
    s32 i = image_named(a, e);
    if (i < 0) return cli_error_value(e);
    lk_status status = lk_images_unpack(a->images, (u32)i, &text, &bytes);
    if (status != LK_OK) return cli_error_status((int)status, lk_images_error(a->images));
    return file_write(a->output ? a->output : "-", text, bytes, e) ? EXIT_CLEAN : cli_error_value(e);
}

static int show(struct inspect *a, lk_status status, struct error *e)
{
    lk_image_choice c;
    lk_image m = { .size = sizeof m };
    bool any = lk_images_at(a->images, 0, &m);
    if (status != LK_OK) inspect_damaged(a);
    if (status != LK_OK && (!any || a->ptx)) return cli_error_status((int)status, a->damage);
    if (lk_images_choose(a->images, 0, a->device, a->strict, &c) != LK_OK)
        return cli_error_status(LK_BAD_INPUT, lk_images_error(a->images));
    if (a->ptx) return write_ptx(a, e);
    if (a->json) {
        struct text t = { 0 };
        inspect_json(a, &t);
        bool ok = file_write(a->json, t.p, t.n, e);
        text_free(&t);
        if (!ok) return cli_error_value(e);
    }
    if (!a->json || strcmp(a->json, "-")) print_all(a);
    return a->damage[0] ? cli_error_status(LK_BAD_INPUT, a->damage) : EXIT_CLEAN;
}

static bool read_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct inspect *a = self;
    (void)e;
    switch ((enum own_option)o->id) {
    case OWN_DEVICE: a->device = value; return true;
    case OWN_STRICT: return a->strict = true;
    case OWN_PTX: a->ptx = value; return true;
    case OWN_OUTPUT: a->output = value; return true;
    case OWN_JSON: a->json = value; return true;
    }
    CHECK(!"an option of inspect without its case");
}

static bool read_word(void *self, const char *word, struct error *e)
{
    struct inspect *a = self;
    if (a->path)
        return error_set(e, ERR_INPUT, "inspect takes one file, and both %.100s and %.100s were given", a->path, word);
    a->path = word;
    return true;
}

int cmd_inspect(int argc, char **argv)
{
    struct error e = { 0 };
    struct inspect a = { 0 };
    struct parser p = { .verb = VERB_inspect, .self = &a, .option = read_option, .word = read_word };
    bool ok = options_parse(&p, argc, argv, &e);
    a.common = p.common;
    if (ok && !a.path) ok = error_set(&e, ERR_INPUT, "inspect needs a file; lockstep inspect --help shows an example");
    if (ok && a.output && !a.ptx) ok = error_set(&e, ERR_INPUT, "-o says where the PTX of --ptx goes: add --ptx N");
    const char *reads[] = { a.path };
    ok = ok && (!a.json || option_output("--json", a.json, reads, 1, &e)) &&
         (!a.output || option_output("-o", a.output, reads, 1, &e));
    if (!ok) return cli_error_value(&e);
    lk_status status = lk_images_open(a.path, &a.images);
    int code = a.images ? show(&a, status, &e) : cli_error_status((int)status, lk_images_error(NULL));
    lk_images_close(a.images);
    return code;
}
