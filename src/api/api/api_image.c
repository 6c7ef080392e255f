/* Program images, for the public interface: what image reads, field by field. */
#include "api/host.h"
#include "image/carrier.h"
#include "image/image.h"
#include "card/card.h"

struct lk_images {
    struct handle handle;
    lock_t lock;             /* of all that follows */
    struct str bytes;        /* the file */
    struct image_file *file; /* NULL: it could not be read */
    struct error error;      /* of the last call that failed */
    char message[1300];      /* the same as a sentence */
    /* the last choice that was made, and for what; choice.chosen false: none yet */
    struct last_choice {
        bool chosen, strict;
        u32 fatbin, sm;
        struct image_choice is;
    } last;
};

static lk_status failed(lk_images *x)
{
    const struct error *e = &x->error;
    const char *at = e->where[0] ? ": " : "";
    snprintf(x->message, sizeof x->message, "%s%s%s%s%s", e->where, at, e->text, e->excerpt[0] ? "\n" : "", e->excerpt);
    return e->code == ERR_MEMORY ? LK_OUT_OF_MEMORY : e->code == ERR_NOTHING ? LK_NOTHING : LK_BAD_INPUT;
}

static struct error *begin(lk_images *x)
{
    x->error = (struct error){ 0 };
    x->message[0] = 0;
    return &x->error;
}

static u32 images_ended(struct handle *h)
{
    lk_images *x = (lk_images *)h;
    image_close(x->file);
    base_free((void *)x->bytes.p);
    pthread_mutex_destroy(&x->lock);
    handle_free(x, sizeof *x);
    return 0;
}

lk_status lk_images_open(const char *path, lk_images **images)
{
    if (!path || !images) return HOST_MISSING(NULL, path ? "place for the images" : "path");
    lk_images *x = *images = handle_new(sizeof *x);
    if (!x) return LK_OUT_OF_MEMORY;
    pthread_mutex_init(&x->lock, NULL);
    x->handle.end = images_ended;
    handle_open(&x->handle, NULL, HANDLE_IMAGES);
    if (!file_read(path, &x->bytes, begin(x))) return failed(x);
    x->file = image_open(path, x->bytes);
    x->error = x->file->damage;
    if (!x->error.code && !x->file->image.n)
        error_set(&x->error, ERR_NOTHING, "%.300s: %s without device code", path, lk_images_kind(x));
    return x->error.code ? failed(x) : LK_OK;
}

lk_status lk_images_close(lk_images *images)
{
    HOST_CALL(LK_BAD_INPUT, USE_IF(IMAGES, images));
    u32 none;
    return !images || host_destroy(&call, &images->handle, __func__, &none) ? LK_OK : LK_BAD_INPUT;
}

const char *lk_images_error(const lk_images *images)
{
    if (!images) return "not enough memory";
    HOST_CALL("", USE(IMAGES, images));
    return images->message;
}

const char *lk_images_kind(const lk_images *images)
{
    HOST_CALL("", USE(IMAGES, images));
    static const char *const name[] = { [FILE_PTX] = "PTX",
                                        [FILE_CUBIN] = "cubin",
                                        [FILE_FATBIN] = "fatbin",
                                        [FILE_EXECUTABLE] = "executable",
                                        [FILE_SHARED] = "shared object",
                                        [FILE_OBJECT] = "object",
                                        [FILE_ARCHIVE] = "archive" };
    return images->file ? name[images->file->kind] : "";
}

const char *lk_images_machine(const lk_images *images)
{
    HOST_CALL("", USE(IMAGES, images));
    return images->file ? elf_machine_name(images->file->machine) : "";
}

int lk_images_fatbin(const lk_images *images, uint32_t i, lk_fatbin *out)
{
    HOST_CALL(0, USE(IMAGES, images));
    static const char *const section[] = {
        [PLACE_FILE] = "", [PLACE_LINKED] = ".nv_fatbin", [PLACE_RELOCATABLE] = "__nv_relfatbin"
    };
    if (!images->file || i >= images->file->fatbin.n) return 0;
    const struct image_fatbin *b = &images->file->fatbin.p[i];
    lk_fatbin o = { .size = out->size,
                    .at = b->at,
                    .bytes = b->bytes,
                    .section = section[b->place],
                    .member = b->member,
                    .first = b->first,
                    .count = b->images };
    memcpy(out, &o, MIN_OF(out->size, sizeof o));
    return 1;
}

int lk_images_at(const lk_images *images, uint32_t i, lk_image *out)
{
    HOST_CALL(0, USE(IMAGES, images));
    if (!images->file || i >= images->file->image.n) return 0;
    const struct image *m = &images->file->image.p[i];
    const char *kind = image_kind_name(m->kind);
    lk_image o = { .size = out->size,
                   .kind = kind ? kind : "",
                   .kind_number = m->kind,
                   .major = m->major,
                   .minor = m->minor,
                   .at = m->at,
                   .bytes = m->bytes,
                   .stored_bytes = m->stored.n,
                   .packing = image_packing(m),
                   .identifier = m->identifier,
                   .options = m->options,
                   .fatbin = m->fatbin,
                   .flags = m->flags };
    image_arch(m, o.arch);
    memcpy(out, &o, MIN_OF(out->size, sizeof o));
    return 1;
}

/* Whether there is an image i. */
static bool has_image(lk_images *x, u32 i, struct error *e)
{
    if (x->file && i < x->file->image.n) return true;
    return error_set(e, ERR_INPUT, "there is no image %u", i + 1);
}

lk_status lk_images_unpack(lk_images *images, uint32_t i, const char **data, size_t *bytes)
{
    HOST_CALL(LK_BAD_INPUT, USE(IMAGES, images));
    HOST_LOCK(&images->lock);
    struct error *e = begin(images);
    struct str text;
    if (!has_image(images, i, e) || !image_unpack(images->file, i, &text, e)) return failed(images);
    *data = text.p;
    *bytes = text.n;
    return LK_OK;
}

/* The code of image i; NULL with the reason in images->error. */
static const struct image_code *code_of(lk_images *images, u32 i)
{
    struct error *e = begin(images);
    if (!has_image(images, i, e)) return NULL;
    u32 kind = images->file->image.p[i].kind;
    if (kind != IMAGE_PTX && kind != IMAGE_CUBIN)
        return error_set(e, ERR_NOTHING, "image %u has no list of kernels", i + 1), NULL;
    return image_read(images->file, i, e);
}

lk_status lk_images_code(lk_images *images, uint32_t i, lk_image_code *out)
{
    HOST_CALL(LK_BAD_INPUT, USE(IMAGES, images));
    HOST_LOCK(&images->lock);
    const struct image_code *c = code_of(images, i);
    if (!c) return failed(images);
    lk_image_code o = { .size = out->size,
                        .kernels = c->kernel.n,
                        .lines = c->lines,
                        .debug = c->debug,
                        .relocatable = c->relocatable,
                        .global_bytes = c->global,
                        .const_bytes = c->constant,
                        .toolkit = c->toolkit,
                        .tool = c->tool,
                        .tool_options = c->tool_options };
    memcpy(out, &o, MIN_OF(out->size, sizeof o));
    return LK_OK;
}

lk_status lk_images_kernel(lk_images *images, uint32_t i, uint32_t k, lk_image_kernel *out)
{
    HOST_CALL(LK_BAD_INPUT, USE(IMAGES, images));
    HOST_LOCK(&images->lock);
    const struct image_code *c = code_of(images, i);
    if (c && k >= c->kernel.n) error_set(&images->error, ERR_INPUT, "image %u has no kernel %u", i + 1, k + 1);
    if (!c || k >= c->kernel.n) return failed(images);
    const struct image_kernel *from = &c->kernel.p[k];
    lk_image_kernel o = { .size = out->size,
                          .name = from->name,
                          .plain = from->plain,
                          .signature = from->signature,
                          .params = from->params,
                          .param_bytes = from->param_bytes,
                          .assembled = from->assembled,
                          .registers = from->registers,
                          .barriers = from->barriers,
                          .stack_bytes = from->stack,
                          .shared_bytes = from->shared,
                          .dynamic_shared = from->dynamic_shared,
                          .const_bytes = from->constant,
                          .code_bytes = from->code,
                          .max_cluster = from->max_cluster,
                          .explicit_cluster = from->explicit_cluster,
                          .grid_sync = from->grid_sync,
                          .warp_sync = from->warp_sync };
    memcpy(o.max_threads, from->max_threads, sizeof o.max_threads);
    memcpy(o.required_threads, from->threads, sizeof o.required_threads);
    memcpy(o.cluster, from->cluster, sizeof o.cluster);
    memcpy(out, &o, MIN_OF(out->size, sizeof o));
    return LK_OK;
}

lk_status lk_images_param(lk_images *images, uint32_t i, uint32_t k, uint32_t p, lk_image_param *out)
{
    HOST_CALL(LK_BAD_INPUT, USE(IMAGES, images));
    HOST_LOCK(&images->lock);
    const struct image_code *c = code_of(images, i);
    bool ok = c && k < c->kernel.n && p < c->kernel.p[k].params;
    if (c && !ok) error_set(&images->error, ERR_INPUT, "there is no parameter %u", p);
    if (!ok) return failed(images);
    const struct image_param *from = &c->kernel.p[k].param[p];
    *out = (lk_image_param){ .offset = from->offset, .bytes = from->bytes, .type = from->type };
    return LK_OK;
}

static const struct card *card_of(const char *device, struct error *e)
{
    const struct card *p = device ? card_find(device) : card_default();
    if (!p) error_set(e, ERR_INPUT, "there is no card `%.40s`; lockstep device lists them", device);
    return p;
}

static const struct image_choice *choose(lk_images *x, u32 fatbin, u32 sm, bool strict)
{
    struct last_choice *l = &x->last;
    if (!l->chosen || l->fatbin != fatbin || l->sm != sm || l->strict != strict) {
        *l = (struct last_choice){ .chosen = true, .strict = strict, .fatbin = fatbin, .sm = sm };
        image_choose(x->file, fatbin, sm, strict, &l->is);
    }
    return &l->is;
}

lk_status lk_images_choose(lk_images *images, uint32_t fatbin, const char *device, int strict, lk_image_choice *out)
{
    HOST_CALL(LK_BAD_INPUT, USE(IMAGES, images));
    HOST_LOCK(&images->lock);
    struct error *e = begin(images);
    const struct card *p = card_of(device, e);
    if (p && (!images->file || fatbin >= images->file->fatbin.n))
        error_set(e, ERR_INPUT, "there is no fatbin %u", fatbin + 1);
    if (e->code) return failed(images);
    const struct image_choice *c = choose(images, fatbin, p->sm, strict != 0);
    *out = (lk_image_choice){ .image = c->image, .silicon = c->silicon, .is_newer = c->is_newer, .sm = p->sm };
    snprintf(out->why, sizeof out->why, "%s", c->why);
    snprintf(out->note, sizeof out->note, "%s", c->note);
    return LK_OK;
}

const char *lk_images_verdict(lk_images *images, uint32_t i, const char *device, int strict)
{
    HOST_CALL("", USE(IMAGES, images));
    HOST_LOCK(&images->lock);
    struct error *e = begin(images);
    const struct card *p = card_of(device, e);
    if (!p || !has_image(images, i, e)) return "";
    const struct image_choice *c = choose(images, images->file->image.p[i].fatbin, p->sm, strict != 0);
    return image_verdict_text(image_verdict(images->file, i, p->sm, c));
}

lk_status lk_images_keep(lk_images *cubin, const char *const *ptx, uint32_t texts, const char *path)
{
    HOST_CALL(LK_BAD_INPUT, USE(IMAGES, cubin));
    HOST_LOCK(&cubin->lock);
    struct error *e = begin(cubin);
    struct piece s = { (const u8 *)cubin->bytes.p, cubin->bytes.n, 0, cubin->file ? cubin->file->name : "" };
    struct str *text = base_alloc(sizeof *text * (texts + 1));
    struct text made = { 0 };
    if (!text) return LK_OUT_OF_MEMORY;
    for (u32 i = 0; i < texts; i++) text[i] = str_of(ptx[i]);
    bool ok = carrier_write(&s, text, texts, &made, e) && file_write(path, made.p, made.n, e);
    text_free(&made);
    base_free(text);
    return ok ? LK_OK : failed(cubin);
}
