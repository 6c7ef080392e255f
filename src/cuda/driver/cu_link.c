/* The linker in the driver: PTX texts, and files with PTX inside, become one program.
 *
 * What cuLinkComplete gives is the PTX that all of them make together: cuModuleLoadData takes it as it takes a cubin.
 */
#include "driver/cu_check.h"
#include "driver/cu_engine.h"
#include "driver/cu_image.h"

enum cu_link_input { LINK_CUBIN, LINK_PTX, LINK_FATBIN, LINK_OBJECT, LINK_LIBRARY, LINK_NVVM, LINK_INPUTS };

struct cu_link { /* CUlinkState */
    struct cu_device *device;
    lock_t lock;       /* of the fields below */
    struct cu_jit jit; /* its logs are the caller's until cuLinkDestroy */
    lk_ptx *part;      /* the texts; each and its name from base_alloc */
    u32 parts;         /* how many */
    char *linked;      /* what cuLinkComplete gave; NULL: not yet */
    struct text said;  /* errors so far, for the log */
};

CU_DEFINE(cuLinkCreate_v2, unsigned, n, int *, option, void **, value, struct cu_link **, out)
{
    struct cu_jit j;
    cu_result r = cu_jit_read(&j, n, option, value);
    if (r) return r;
    struct cu_link *l = cu_handle_new(CU_LINK, sizeof *l);
    if (!l) return CU_OUT_OF_MEMORY;
    l->device = here.context->device;
    pthread_mutex_init(&l->lock, NULL);
    l->jit = j;
    cu_jit_end(&l->jit, CU_OK, "", NULL);
    *out = cu_handle_open(l);
    return CU_OK;
}
CU_API(cuLinkCreate)(unsigned n, int *option, void **value, struct cu_link **out)
{
    return lkcu_cuLinkCreate_v2(n, option, value, out);
}

/* Says why in the error log of the linker, after what is there. */
static cu_result fail(struct cu_link *l, cu_result r, const char *why)
{
    text_add(&l->said, "%s%s", l->said.n ? "\n" : "", why);
    cu_jit_end(&l->jit, r, l->said.p, NULL);
    return r;
}

static char *copy_of(const char *text)
{
    size_t n = strlen(text) + 1;
    char *p = base_alloc(n);
    if (p) memcpy(p, text, n);
    return p;
}

/* Takes texts, which are the linker's from now on, whatever comes. */
static cu_result parts_add(struct cu_link *l, lk_ptx *part, u32 n, const char *name)
{
    lk_ptx *more = base_realloc(l->part, sizeof *more * (l->parts + n));
    if (more) l->part = more;
    for (u32 i = 0; i < n; i++) {
        char *kept = more ? copy_of(name) : NULL;
        if (kept)
            l->part[l->parts++] = (lk_ptx){ kept, part[i].ptx, part[i].bytes };
        else
            base_free((void *)(uintptr_t)part[i].ptx);
    }
    base_free(part);
    return more ? CU_OK : CU_OUT_OF_MEMORY;
}

/* Compiles one text alone: what is wrong in it is said where it is added, as the driver does. */
static cu_result part_check(struct cu_link *l, const lk_ptx *part)
{
    lk_module *m = NULL;
    char why[1200];
    lk_status s = lk_module_link(l->device->gpu, part, 1, &m);
    if (!s) {
        lk_module_unload(m);
        return CU_OK;
    }
    cu_jit_words(why, sizeof why);
    return fail(l, s == LK_BAD_INPUT ? CU_INVALID_PTX : cu_status(l->device->gpu, s), why);
}

static cu_result add(struct cu_link *l, u32 type, const void *data, u64 bytes, const char *name)
{
    char why[1200], text[1400];
    lk_ptx *part;
    u32 n;
    if (type >= LINK_INPUTS || !bytes || bytes > UINT32_MAX || !bytes_readable(data, bytes)) return CU_INVALID_VALUE;
    if (type == LINK_NVVM) {
        cu_refused("cuLinkAddData of LTO-IR (CU_JIT_INPUT_NVVM)");
        return fail(l, CU_NOT_SUPPORTED, "error   : LTO-IR is not supported: add PTX instead");
    }
    /* libcudadevrt: the machine has its functions. Its PTX is for the newest GPUs alone, and so would be what is linked
     * with it. */
    if (type == LINK_LIBRARY && strstr(name, "cudadevrt")) return CU_OK;
    struct str all = { data, (u32)bytes };
    while (type == LINK_PTX && all.n && !all.p[all.n - 1]) all.n--; /* the final zero belongs to the size */
    cu_result r = cu_engine->cu_texts_of_file(all, l->device, name, &part, &n, why, sizeof why);
    if (r) {
        snprintf(text, sizeof text, "error   : %s: %s", name, why);
        return fail(l, type == LINK_PTX ? CU_INVALID_PTX : r, text);
    }
    for (u32 i = 0; !r && i < n && type == LINK_PTX; i++) r = part_check(l, &part[i]);
    if (r) {
        cu_engine->cu_texts_free(part, n);
        return r;
    }
    return parts_add(l, part, n, name);
}

/* Options of one input override those of the linker; logs are the linker's alone. */
static cu_result options_check(unsigned n, int *option, void **value)
{
    struct cu_jit j;
    return cu_jit_read(&j, n, option, value);
}

static cu_result add_locked(struct cu_link *l, u32 type, const void *data, u64 bytes, const char *name)
{
    lock(&l->lock);
    cu_result r = l->linked ? CU_INVALID_VALUE : add(l, type, data, bytes, name);
    unlock(&l->lock);
    return r;
}

CU_DEFINE(cuLinkAddData_v2, struct cu_link *, l, u32, type, void *, data, u64, bytes, const char *, name, unsigned, n,
          int *, option, void **, value)
{
    cu_result r = options_check(n, option, value);
    return r ? r : add_locked(l, type, data, bytes, name ? name : "<unknown>");
}
CU_API(cuLinkAddData)
(struct cu_link *l, u32 type, void *data, u64 bytes, const char *name, unsigned n, int *option, void **value)
{
    return lkcu_cuLinkAddData_v2(l, type, data, bytes, name, n, option, value);
}

struct file_add {
    struct cu_link *link;
    u32 type;
    const char *path;
};
static cu_result add_file(void *self, const void *data, u64 bytes)
{
    const struct file_add *f = self;
    return add_locked(f->link, f->type, data, bytes, f->path);
}
CU_DEFINE(cuLinkAddFile_v2, struct cu_link *, l, u32, type, const char *, path, unsigned, n, int *, option, void **,
          value)
{
    cu_result r = options_check(n, option, value);
    struct file_add f = { l, type, path };
    return r ? r : cu_file_load(path, add_file, &f);
}
CU_API(cuLinkAddFile)(struct cu_link *l, u32 type, const char *path, unsigned n, int *option, void **value)
{
    return lkcu_cuLinkAddFile_v2(l, type, path, n, option, value);
}

/* A name that a kernel can get to and nothing defines: the linker of a GPU says so now, not when it is reached. */
static cu_result undefined_check(struct cu_link *l, lk_module *m)
{
    char name[400], text[400], why[900];
    if (!cu_jit_undefined(m, name, text, sizeof name)) return CU_OK;
    snprintf(why, sizeof why, "error   : Undefined reference to '%s' in '%s'", name, text);
    return fail(l, CU_UNKNOWN, why);
}

/* With its lock: makes l->linked. */
static cu_result link_all(struct cu_link *l)
{
    lk_module *m = NULL;
    size_t n = 0;
    char why[1200];
    if (!l->parts) return fail(l, CU_INVALID_IMAGE, "error   : there is nothing to link");
    lk_status s = lk_module_link(l->device->gpu, l->part, l->parts, &m);
    if (s) {
        snprintf(why, sizeof why, "error   : %s", host_error()->text);
        return fail(l, s == LK_BAD_INPUT ? CU_INVALID_IMAGE : cu_status(l->device->gpu, s), why);
    }
    cu_result r = undefined_check(l, m);
    if (!r) {
        const char *text = l->parts == 1 ? l->part[0].ptx : lk_module_ptx(m, &n);
        if (!text)
            r = fail(l, CU_INVALID_IMAGE, lk_gpu_error(l->device->gpu));
        else if (!(l->linked = copy_of(text)))
            r = CU_OUT_OF_MEMORY;
    }
    if (!r) cu_jit_end(&l->jit, CU_OK, "", m);
    lk_module_unload(m);
    return r;
}

CU_DEFINE(cuLinkComplete, struct cu_link *, l, void **, out, u64 *, bytes)
{
    cu_result r = CU_OK;
    lock(&l->lock);
    if (!l->linked) r = link_all(l);
    if (!r) *out = l->linked;
    if (!r && bytes) *bytes = strlen(l->linked) + 1;
    unlock(&l->lock);
    return r;
}

static cu_result link_end(void *handle)
{
    struct cu_link *l = handle;
    for (u32 i = 0; i < l->parts; i++) base_free((void *)(uintptr_t)l->part[i].name);
    cu_engine->cu_texts_free(l->part, l->parts);
    text_free(&l->said);
    base_free(l->linked);
    pthread_mutex_destroy(&l->lock);
    return CU_OK;
}
CU_DEFINE(cuLinkDestroy, struct cu_link *, l)
{
    return cu_handle_take(l, CU_LINK) ? cu_handle_drop(l, link_end) : CU_INVALID_HANDLE;
}
