/* Source and images that are no files.
 *
 * A source in memory and its headers are written below the folder of the cache, under a name made of what they are: all
 * compilers take them there, the cache knows them again, and reports find the lines. What is said of them names them as
 * the caller does: the folder is cut from messages and from the PTX. */
#include "compile/compile.h"
#include "gpu/dev_gpu.h"
#include "api/host.h"
#include "image/image.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- source ---- */

static bool name_fits_file(const char *name)
{
    return name && *name && name[0] != '/' && strlen(name) < 200 && !strstr(name, "..") && !strchr(name, '\n') &&
           !strchr(name, '"');
}

/* All folders of a path, which ends in a file. */
static void folders_make(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
}

static bool text_write(const char *folder, const lk_source *s, struct error *e)
{
    char path[4600];
    struct str old;
    snprintf(path, sizeof path, "%s/%s", folder, s->name);
    if (file_read_if(path, &old)) { /* an earlier call has written it */
        bool same = old.n == s->bytes && !memcmp(old.p, s->text, old.n);
        base_free((void *)(uintptr_t)old.p);
        if (same) return true;
    }
    folders_make(path);
    return file_write(path, s->text, s->bytes, e);
}

static bool source_check(const lk_source *s, const char *what, struct error *e)
{
    if (!s->text && s->bytes) return error_set(e, ERR_INPUT, "no text of the %s is given", what);
    if (s->bytes >= UINT32_MAX) return error_set(e, ERR_INPUT, "a %s of 4 GiB and more is not taken", what);
    return name_fits_file(s->name) ||
           error_set(e, ERR_INPUT, "`%.60s` is not a name of a %s: a name as in \"scale.cu\" belongs here, without ..",
                     s->name ? s->name : "", what);
}

/* The folder of these texts, which is named after a hash of their contents. */
static bool folder_of(const lk_source *main, const lk_compile *o, char *out, size_t size, struct error *e)
{
    char base[4000], hex[HASH_HEX];
    struct hash h;
    if (!cache_folder(base, sizeof base)) {
        const char *tmp = getenv("TMPDIR");
        snprintf(base, sizeof base, "%.3000s", tmp && *tmp ? tmp : "/tmp");
    }
    hash_begin(&h);
    hash_add_text(&h, main->name);
    hash_add(&h, main->text, main->bytes);
    for (u32 i = 0; i < o->headers; i++) {
        if (!source_check(&o->header[i], "header", e)) return false;
        hash_add_text(&h, o->header[i].name);
        hash_add(&h, o->header[i].text, o->header[i].bytes);
    }
    hash_end(&h, hex);
    snprintf(out, size, "%.3900s/sources/%.24s", base, hex);
    return true;
}

lk_status lk_module_compile_source(lk_gpu *gpu, const char *name, const char *text, size_t bytes,
                                   const lk_compile *options, lk_module **module)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!text || !module) return HOST_MISSING(gpu, !text ? "text" : "place for the module");
    struct error *e = host_begin(gpu);
    lk_compile in = { .size = sizeof in };
    char folder[4200], path[4500], file[210];
    if (options) memcpy(&in, options, MIN_OF(options->size, sizeof in));
    *module = NULL;
    size_t n = name ? strlen(name) : 0;
    snprintf(file, sizeof file, "%.200s%s", n ? name : "source", n > 3 && !strcmp(name + n - 3, ".cu") ? "" : ".cu");
    lk_source main = { file, text, bytes };
    bool ok = (in.header || !in.headers) || error_set(e, ERR_INPUT, "no list of headers is given");
    ok = ok && source_check(&main, "source", e) && folder_of(&main, &in, folder, sizeof folder, e);
    ok = ok && text_write(folder, &main, e);
    for (u32 i = 0; ok && i < in.headers; i++) ok = text_write(folder, &in.header[i], e);
    if (!ok) return host_failed(gpu);
    struct arena a = { 0 };
    const char **flag = NEW_ARRAY(&a, const char *, in.flags + 2);
    if (in.flags) memcpy(flag, in.flag, in.flags * sizeof *flag);
    flag[in.flags] = arena_printf(&a, "-I%s", folder);
    in.flag = flag;
    in.flags += in.headers != 0;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    lk_status status = host_compile(gpu, path, &in, folder, module);
    arena_free(&a);
    return status;
}

/* ---- images ---- */

static bool is_identifier(const char *name)
{
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$");
    return n && !name[n] && (name[0] < '0' || name[0] > '9');
}

/* A text that says of a cubin what the driver does not tell: names and parameters of its kernels, names and sizes of
 * its variables. */
static void stub_write(const struct image_code *c, u32 sm, struct text *out)
{
    text_add(out, ".version 8.0\n.target sm_%u\n.address_size 64\n", sm);
    for (u32 i = 0; i < c->variable.n; i++) {
        const struct image_variable *v = &c->variable.p[i];
        bool fits = v->bytes < 1ull << 40 && is_identifier(v->name);
        if (fits)
            text_add(out, ".visible .%s .align 1 .b8 %s[%" PRIu64 "];\n", v->constant ? "const" : "global", v->name,
                     v->bytes);
    }
    for (u32 i = 0; i < c->kernel.n; i++) {
        const struct image_kernel *k = &c->kernel.p[i];
        text_add(out, ".visible .entry %s(", k->name);
        for (u32 p = 0; p < k->params; p++) {
            u32 n = k->param[p].bytes;
            bool word = (n == 1 || n == 2 || n == 4 || n == 8) && k->param[p].offset % n == 0;
            u32 align = k->param[p].offset % 8 ? k->param[p].offset % 4 ? k->param[p].offset % 2 ? 1 : 2 : 4 : 8;
            text_add(out, "%s\n", p ? "," : "");
            if (word)
                text_add(out, " .param .b%u %s_param_%u", 8 * n, k->name, p);
            else
                text_add(out, " .param .align %u .b8 %s_param_%u[%u]", align, k->name, p, n);
        }
        text_add(out, ")\n{\n ret;\n}\n");
    }
}

/* What is known of the image: the PTX in it, else a text of its kernels. `code`: it has machine code for the gpu. */
static bool image_text_of(lk_gpu *gpu, struct image_file *f, struct text *out, struct error *e)
{
    struct image_choice c = { .image = -1, .silicon = -1 };
    const struct card *card = gpu->device->card;
    struct str text;
    if (f->fatbin.n != 1)
        return error_set(e, ERR_INPUT, "%s: one program is loaded at a time, and there are %u", f->name, f->fatbin.n);
    image_choose(f, 0, card->sm, false, &c);
    if (c.image >= 0) {
        if (!image_unpack(f, (u32)c.image, &text, e)) return false;
        text_put(out, text.p, text.n);
        return true;
    }
    if (gpu->device->mem || c.silicon < 0) return error_set(e, ERR_INPUT, "%s: %.380s", f->name, c.why);
    const struct image_code *code = image_read(f, (u32)c.silicon, e);
    if (code) stub_write(code, card->sm, out);
    return code != NULL;
}

lk_status lk_module_load_image(lk_gpu *gpu, const char *name, const void *image, size_t bytes, lk_module **module)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!image || !module) return HOST_MISSING(gpu, !image ? "image" : "place for the module");
    struct error *e = host_begin(gpu);
    *module = NULL;
    if (!name) name = "image";
    if (bytes >= UINT32_MAX) return host_refuse(gpu, "%.60s: an image of 4 GiB and more is not taken", name);
    struct str all = { image, (u32)bytes };
    struct image_file *f = image_open(name, all);
    struct text text = { 0 };
    lk_status status = LK_BAD_INPUT;
    if (f->damage.code && !f->image.n) {
        *e = f->damage;
        status = host_failed(gpu);
    } else if (!image_text_of(gpu, f, &text, e)) {
        status = host_failed(gpu);
    } else {
        bool as_is = gpu->device->gpu && f->kind != FILE_PTX;
        struct dev_part part = { name, { text.p, (u32)text.n } };
        status = host_load_image(gpu, &part, as_is ? image : NULL, module);
    }
    text_free(&text);
    image_close(f);
    return status;
}

/* ---- the device runtime ---- */

/* libcudadevrt.a of the toolkit that is found here. */
static bool runtime_find(char *out, size_t size)
{
    static const char *const places[] = { "lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib" };
    struct toolkit *t = base_need(sizeof *t);
    toolkit_find(t);
    char root[1024];
    snprintf(root, sizeof root, "%s", t->root);
    if (!root[0] && t->nvcc[0]) { /* ROOT/bin/nvcc */
        snprintf(root, sizeof root, "%s", t->nvcc);
        for (u32 k = 0; k < 2 && strrchr(root, '/'); k++) *strrchr(root, '/') = 0;
    }
    base_free(t);
    for (u32 i = 0; root[0] && i < COUNT_OF(places); i++) {
        snprintf(out, size, "%s/%s/libcudadevrt.a", root, places[i]);
        if (file_exists(out)) return true;
    }
    return false;
}

void host_runtime_known(void) { gpu_runtime_from(runtime_find); }
