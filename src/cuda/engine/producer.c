/* Libraries that make cubins: NVRTC and nvJitLink. Programs that compile on the fly ask them for machine code, which
 * Lockstep does not run. The front hands the calls of producer.def to lkcu_produce together with the library's own
 * function; that one does the work, and its cubin gets the PTX it was made of as further sections (image/carrier.h).
 * Errors, logs and everything else stay the library's.
 *
 * NVRTC has the PTX of a program beside its cubin. nvJitLink is given it: inputs are kept until the link is destroyed.
 * What was given as code for link-time optimisation is linked once more by the library itself, into PTX. */
#include "base/base.h"
#include "image/carrier.h"
#include "image/image.h"
#include "report/report.h"
#include <dlfcn.h>
#include <stdlib.h>

#define PRODUCER(name, arguments) PRODUCE_##name,
enum {
#include "front/producer.def"
    PRODUCERS
};
#undef PRODUCER

typedef int (*size_call)(void *, size_t *);
typedef int (*bytes_call)(void *, char *);

/* Another function of the library that has `real`; those of producer.def are there themselves. */
static void *sibling(void *const *real, const char *name)
{
    Dl_info at;
    void *of = NULL;
    for (u32 i = 0; i < PRODUCERS && !of; i++) of = real[i];
    void *library = dladdr(of, &at) ? dlopen(at.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *f = library ? dlsym(library, name) : NULL;
    if (library) dlclose(library);
    return f;
}

/* What a pair of functions, one for the size and one for the bytes, answers for `object`. From base_alloc; p = NULL:
 * they answer with an error, or nothing. */
static struct str answer(size_call size, bytes_call bytes, void *object)
{
    size_t n = 0;
    if (!size || !bytes || size(object, &n) || !n || n > UINT32_MAX) return (struct str){ 0 };
    char *p = base_alloc(n + 1);
    if (p && bytes(object, p)) {
        base_free(p);
        p = NULL;
    }
    return (struct str){ p, p ? (u32)n : 0 };
}
static void drop(struct str s) { base_free((void *)(uintptr_t)s.p); }

static struct str without_end(struct str s)
{
    while (s.n && !s.p[s.n - 1]) s.n--;
    return s;
}

/* A cubin with texts in `out`; false: it stays as it is. */
static bool carry(struct str cubin, const struct str *text, u32 texts, struct text *out)
{
    struct error e = { 0 };
    struct piece s = { (const u8 *)cubin.p, cubin.n, 0, "cubin" };
    return cubin.p && texts && carrier_write(&s, text, texts, out, &e);
}

/* ---- NVRTC ---- */

struct program {
    struct program *next; /* of `programs` */
    void *handle;         /* the library's */
    char *name;           /* from base_alloc, like the text */
    char *text;           /* as it was given */
};
static lock_t programs_lock = LOCK_INIT;
static struct program *programs;

static void program_drop(void *handle)
{
    lock(&programs_lock);
    struct program **at = &programs;
    while (*at && (*at)->handle != handle) at = &(*at)->next;
    struct program *p = *at;
    if (p) *at = p->next;
    unlock(&programs_lock);
    if (!p) return;
    base_free(p->name);
    base_free(p->text);
    base_free(p);
}

static char *copy_of(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = base_need(n);
    memcpy(copy, text, n);
    return copy;
}

static void program_keep(void *handle, const char *name, const char *text)
{
    program_drop(handle); /* the library uses a handle again */
    struct program *p = base_need(sizeof *p);
    *p = (struct program){ NULL, handle, copy_of(name), copy_of(text) };
    lock(&programs_lock);
    p->next = programs;
    programs = p;
    unlock(&programs_lock);
}

/* The text of a program as comments after its PTX: a client may cache the cubin, and then nobody gives the text when
 * it is loaded (cu_source_give). */
static void source_put(void *program, struct text *out)
{
    lock(&programs_lock);
    const struct program *p = programs;
    while (p && p->handle != program) p = p->next;
    if (p) text_add(out, "\n" CARRIED_SOURCE "%s", p->name);
    for (const char *at = p ? p->text : ""; *at;) {
        size_t n = strcspn(at, "\n");
        text_add(out, "\n" CARRIED_LINE);
        text_put(out, at, n);
        at += n + (at[n] == '\n');
    }
    unlock(&programs_lock);
    if (p) text_put(out, "\n", 1);
}

static bool nvrtc_carried(void *const *real, void *program, struct text *out)
{
    struct str cubin = answer((size_call)real[PRODUCE_nvrtcGetCUBINSize], (bytes_call)real[PRODUCE_nvrtcGetCUBIN],
                              program);
    struct str ptx = cubin.p ? answer((size_call)sibling(real, "nvrtcGetPTXSize"),
                                      (bytes_call)sibling(real, "nvrtcGetPTX"), program)
                             : (struct str){ 0 };
    struct text whole = { 0 };
    text_put(&whole, ptx.p, without_end(ptx).n);
    if (whole.n) source_put(program, &whole);
    struct str text = { whole.p, (u32)whole.n };
    bool ok = carry(cubin, &text, text.n ? 1 : 0, out);
    text_free(&whole);
    drop(cubin);
    drop(ptx);
    return ok;
}

typedef int (*program_call)(void **, const char *, const char *, int, const char *const *, const char *const *);

/* The text is kept, so that reports can show its lines. */
static long program_new_do(void *const *real, void *const *a)
{
    int r = ((program_call)real[PRODUCE_nvrtcCreateProgram])(a[0], a[1], a[2], (int)(intptr_t)a[3], a[4], a[5]);
    const char *name = a[2] ? a[2] : "default_program";
    if (!r) source_give(name, str_of(a[1]));
    if (!r) program_keep(*(void **)a[0], name, a[1]);
    return r;
}

static long program_destroy_do(void *const *real, void *const *a)
{
    if (a[0]) program_drop(*(void **)a[0]);
    return ((int (*)(void **))real[PRODUCE_nvrtcDestroyProgram])(a[0]);
}

typedef int (*compile_call)(void *, int, const char *const *);

/* Compiles with line information, which changes no code, unless it was asked for, or debugging information is; code for
 * link-time optimisation would not link with what another compiler has made, which says of lines otherwise. */
static long compile_do(void *const *real, void *const *a)
{
    static const char *const has[] = { "-lineinfo", "--generate-line-info", "-G", "--device-debug",
                                       "-dlto",     "--dlink-time-opt" };
    compile_call compile = (compile_call)real[PRODUCE_nvrtcCompileProgram];
    int n = (int)(intptr_t)a[1];
    const char *const *given = a[2];
    bool plain = n >= 0 && (!n || given);
    for (int i = 0; plain && i < n; i++)
        for (u32 k = 0; k < COUNT_OF(has) && plain; k++) plain = given[i] && strcmp(given[i], has[k]) != 0;
    if (!plain) return compile(a[0], n, given);
    const char **option = base_need(sizeof *option * ((size_t)n + 1));
    if (n) memcpy(option, given, sizeof *option * (size_t)n);
    option[n] = "-lineinfo";
    int r = compile(a[0], n + 1, option);
    base_free(option);
    return r;
}

/* ---- nvJitLink ---- */

enum input_type { INPUT_PTX = 2, INPUT_LTO = 3 }; /* nvJitLinkInputType */
struct input {
    struct input *next; /* in the order in which they were added */
    int type;           /* enum input_type, or another one of nvJitLink's */
    struct str bytes;   /* from base_alloc */
    char name[200];     /* as the caller gave it */
    bool optimised;     /* it has code for link-time optimisation in place of a text */
};
struct link {
    struct link *next;   /* of `links` */
    void *handle;        /* the library's */
    char **option;       /* copies */
    u32 options;         /* how many */
    u32 sm;              /* that is linked for, by -arch */
    struct input *first; /* NULL: none yet */
    struct input **last; /* where the next one goes */
    struct text carrier; /* the linked cubin with its texts, once it was asked for */
};
static lock_t links_lock = LOCK_INIT;
static struct link *links;

static struct link *link_of(void *handle)
{
    struct link *l = links;
    while (l && l->handle != handle) l = l->next;
    return l;
}

static void link_free(struct link *l)
{
    while (l->first) {
        struct input *i = l->first;
        l->first = i->next;
        drop(i->bytes);
        base_free(i);
    }
    for (u32 i = 0; i < l->options; i++) base_free(l->option[i]);
    base_free(l->option);
    text_free(&l->carrier);
    base_free(l);
}

static struct link *link_new(void *handle, u32 options, const char *const *option)
{
    struct link *l = base_need(sizeof *l);
    *l = (struct link){ .handle = handle, .option = base_need(sizeof *l->option * (options + 1)), .options = options };
    l->last = &l->first;
    for (u32 i = 0; i < options; i++) {
        const char *arch = strstr(option[i], "arch=");
        size_t n = strlen(option[i]) + 1;
        l->option[i] = base_need(n);
        memcpy(l->option[i], option[i], n);
        if (arch) sscanf(arch, "arch=%*[a-z]_%u", &l->sm);
    }
    return l;
}

static void input_add(struct link *l, int type, struct str bytes, const char *name)
{
    struct input *i = base_need(sizeof *i);
    *i = (struct input){ .type = type, .bytes = bytes };
    snprintf(i->name, sizeof i->name, "%s", name ? name : "");
    *l->last = i;
    l->last = &i->next;
}

typedef int (*create_call)(void **, u32, const char **);
typedef int (*destroy_call)(void **);
typedef int (*complete_call)(void *);
typedef int (*data_call)(void *, int, const void *, size_t, const char *);
typedef int (*file_call)(void *, int, const char *);

struct texts { /* grown by VEC_PUSH */
    struct str *p;
    u32 n, cap;
};
/* libcudadevrt: of its functions the machine has those that grids synchronise by (grid_ptx), and kernels launch by. */
static bool is_device_runtime(const struct input *i) { return strstr(i->name, "cudadevrt"); }

/* Adds the texts of an input; false: it has code for link-time optimisation in their place. */
static bool texts_of(struct arena *mem, const struct link *l, const struct input *i, struct texts *to)
{
    if (i->type == INPUT_LTO) return false;
    if (is_device_runtime(i)) return true;
    if (i->type == INPUT_PTX) {
        VEC_PUSH(mem, to, without_end(i->bytes));
        return true;
    }
    struct image_file *f = image_open(i->name, i->bytes);
    bool lto = false, relocatable = false;
    for (u32 k = 0; k < f->image.n; k++) lto |= f->image.p[k].kind == IMAGE_LTO;
    for (u32 k = 0; k < f->fatbin.n; k++) relocatable |= f->fatbin.p[k].place == PLACE_RELOCATABLE;
    u32 before = to->n;
    for (u32 k = 0; k < f->fatbin.n; k++) {
        struct image_choice c;
        struct error e = { 0 };
        struct str text;
        if (relocatable && f->fatbin.p[k].place != PLACE_RELOCATABLE) continue;
        image_choose(f, k, l->sm, false, &c);
        if (c.image < 0 || !image_unpack(f, (u32)c.image, &text, &e)) continue;
        text = without_end(text);
        text.p = arena_str(mem, text);
        VEC_PUSH(mem, to, text);
    }
    image_close(f);
    return to->n > before || !lto;
}

/* What grids synchronise by where it is not inlined, as in kernels of Numba. As in the header of cooperative groups one
 * thread of each block adds to a word of the launch's, whose highest bit turns when the last one has come. */
static const char grid_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)\n"
    "{\n.reg .b32 %r<3>;\n.reg .b64 %d;\n"
    "mov.u32 %r1, %envreg1;\nmov.u32 %r2, %envreg2;\nmov.b64 %d, {%r2, %r1};\n"
    "st.param.b64 [result], %d;\nret;\n}\n"
    ".visible .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)\n"
    "{\n.reg .pred %p<3>;\n.reg .b32 %r<10>;\n.reg .b64 %d;\n"
    "ld.param.b64 %d, [handle];\nmov.u32 %r0, 1;\nsetp.eq.u64 %p0, %d, 0;\n@%p0 bra done;\n"
    "barrier.sync 0;\n"
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nor.b32 %r1, %r1, %r2;\nmov.u32 %r2, %tid.z;\nor.b32 %r1, %r1, %r2;\n"
    "setp.ne.u32 %p0, %r1, 0;\n@%p0 bra wait;\n"
    "mov.u32 %r3, %nctaid.x;\nmov.u32 %r4, %nctaid.y;\nmul.lo.u32 %r3, %r3, %r4;\nmov.u32 %r4, %nctaid.z;\n"
    "mul.lo.u32 %r3, %r3, %r4;\nsub.u32 %r3, 0x80000001, %r3;\n"
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\nor.b32 %r1, %r1, %r2;\nmov.u32 %r2, %ctaid.z;\nor.b32 %r1, %r1, "
    "%r2;\n"
    "setp.eq.u32 %p1, %r1, 0;\nselp.u32 %r5, %r3, 1, %p1;\n"
    "fence.acq_rel.gpu;\natom.global.gpu.add.u32 %r6, [%d+4], %r5;\n"
    "again: ld.acquire.gpu.global.u32 %r7, [%d+4];\nxor.b32 %r8, %r6, %r7;\nsetp.ge.s32 %p2, %r8, 0;\n@%p2 bra again;\n"
    "fence.acq_rel.gpu;\n"
    "wait: barrier.sync 0;\nmov.u32 %r0, 0;\n"
    "done: st.param.b32 [result], %r0;\nret;\n}\n";

static bool is_mentioned(const struct texts *all, const char *name)
{
    size_t n = strlen(name);
    for (u32 i = 0; i < all->n; i++)
        if (memmem(all->p[i].p, all->p[i].n, name, n)) return true;
    return false;
}

/* The link once more, into PTX: what cannot be part of it has texts of its own. From base_alloc; p = NULL: the library
 * refuses. */
static struct str linked_ptx(void *const *real, const struct link *l)
{
    create_call create = (create_call)real[PRODUCE_nvJitLinkCreate];
    destroy_call destroy = (destroy_call)real[PRODUCE_nvJitLinkDestroy];
    data_call add = (data_call)real[PRODUCE_nvJitLinkAddData];
    complete_call complete = (complete_call)sibling(real, "nvJitLinkComplete");
    const char **option = base_need(sizeof *option * (l->options + 2));
    struct str ptx = { 0 };
    void *again = NULL;
    u32 n = 0;
    for (u32 i = 0; i < l->options; i++) option[n++] = l->option[i];
    option[n++] = "-lto";
    option[n++] = "-ptx";
    if (create && destroy && add && complete && !create(&again, n, option)) {
        bool ok = true;
        for (const struct input *i = l->first; ok && i; i = i->next)
            ok = !i->optimised || !add(again, i->type, i->bytes.p, i->bytes.n, i->name);
        if (ok && !complete(again))
            ptx = answer((size_call)sibling(real, "nvJitLinkGetLinkedPtxSize"),
                         (bytes_call)sibling(real, "nvJitLinkGetLinkedPtx"), again);
        destroy(&again);
    }
    base_free(option);
    return ptx;
}

static bool link_carried(void *const *real, struct link *l)
{
    struct arena mem = { 0 };
    struct texts text = { 0 };
    bool lto = false;
    if (l->carrier.n) return true;
    struct str cubin = answer((size_call)real[PRODUCE_nvJitLinkGetLinkedCubinSize],
                              (bytes_call)real[PRODUCE_nvJitLinkGetLinkedCubin], l->handle);
    for (struct input *i = l->first; cubin.p && i; i = i->next) lto |= i->optimised = !texts_of(&mem, l, i, &text);
    struct str linked = lto ? linked_ptx(real, l) : (struct str){ 0 };
    if (linked.p) VEC_PUSH(&mem, &text, without_end(linked));
    if (is_mentioned(&text, "cudaCGSynchronize") || is_mentioned(&text, "cudaCGGetIntrinsicHandle"))
        VEC_PUSH(&mem, &text, str_of(grid_ptx));
    bool ok = (!lto || linked.p) && carry(cubin, text.p, text.n, &l->carrier);
    drop(linked);
    drop(cubin);
    arena_free(&mem);
    return ok;
}

/* ---- calls ---- */

static long create_do(void *const *real, void *const *a)
{
    u32 n = (u32)(uintptr_t)a[1];
    int r = ((create_call)real[PRODUCE_nvJitLinkCreate])(a[0], n, a[2]);
    if (r) return r;
    struct link *l = link_new(*(void **)a[0], n, a[2]);
    lock(&links_lock);
    l->next = links;
    links = l;
    unlock(&links_lock);
    return r;
}

static long destroy_do(void *const *real, void *const *a)
{
    lock(&links_lock);
    struct link **at = &links;
    while (*at && (!a[0] || (*at)->handle != *(void **)a[0])) at = &(*at)->next;
    struct link *l = *at;
    if (l) *at = l->next;
    unlock(&links_lock);
    if (l) link_free(l);
    return ((destroy_call)real[PRODUCE_nvJitLinkDestroy])(a[0]);
}

static long data_do(void *const *real, void *const *a)
{
    size_t n = (size_t)a[3];
    int type = (int)(intptr_t)a[1], r = ((data_call)real[PRODUCE_nvJitLinkAddData])(a[0], type, a[2], n, a[4]);
    char *copy = r || n > UINT32_MAX - 1 ? NULL : base_alloc(n + 1);
    if (!copy) return r;
    memcpy(copy, a[2], n);
    lock(&links_lock);
    struct link *l = link_of(a[0]);
    if (l)
        input_add(l, type, (struct str){ copy, (u32)n }, a[4]);
    else
        base_free(copy);
    unlock(&links_lock);
    return r;
}

static long file_do(void *const *real, void *const *a)
{
    struct str bytes;
    int type = (int)(intptr_t)a[1], r = ((file_call)real[PRODUCE_nvJitLinkAddFile])(a[0], type, a[2]);
    if (r || !file_read_if(a[2], &bytes)) return r;
    lock(&links_lock);
    struct link *l = link_of(a[0]);
    if (l)
        input_add(l, type, bytes, a[2]);
    else
        drop(bytes);
    unlock(&links_lock);
    return r;
}

/* One of a pair of functions: out is a size_t, or room for the bytes. */
static long carried_give(const struct text *t, void *out, bool bytes)
{
    if (bytes)
        memcpy(out, t->p, t->n);
    else
        *(size_t *)out = t->n;
    return 0;
}

static long linked_do(void *const *real, void *const *a, bool bytes)
{
    lock(&links_lock);
    struct link *l = link_of(a[0]);
    bool ok = l && a[1] && link_carried(real, l);
    if (ok) carried_give(&l->carrier, a[1], bytes);
    unlock(&links_lock);
    u32 which = bytes ? PRODUCE_nvJitLinkGetLinkedCubin : PRODUCE_nvJitLinkGetLinkedCubinSize;
    return ok ? 0 : ((bytes_call)real[which])(a[0], a[1]);
}

static long program_do(void *const *real, void *const *a, bool bytes)
{
    struct text t = { 0 };
    u32 which = bytes ? PRODUCE_nvrtcGetCUBIN : PRODUCE_nvrtcGetCUBINSize;
    long r = a[1] && nvrtc_carried(real, a[0], &t) ? carried_give(&t, a[1], bytes)
                                                   : ((bytes_call)real[which])(a[0], a[1]);
    text_free(&t);
    return r;
}

/* A call of function `which` of producer.def; `real`: those of the library that it is of. */
__attribute__((visibility("default"))) long lkcu_produce(unsigned which, void *const *real, void *const *a);
long lkcu_produce(unsigned which, void *const *real, void *const *a)
{
    switch (which) {
    case PRODUCE_nvrtcCreateProgram: return program_new_do(real, a);
    case PRODUCE_nvrtcDestroyProgram: return program_destroy_do(real, a);
    case PRODUCE_nvrtcCompileProgram: return compile_do(real, a);
    case PRODUCE_nvrtcGetCUBINSize:
    case PRODUCE_nvrtcGetCUBIN: return program_do(real, a, which == PRODUCE_nvrtcGetCUBIN);
    case PRODUCE_nvJitLinkCreate: return create_do(real, a);
    case PRODUCE_nvJitLinkDestroy: return destroy_do(real, a);
    case PRODUCE_nvJitLinkAddData: return data_do(real, a);
    case PRODUCE_nvJitLinkAddFile: return file_do(real, a);
    default: return linked_do(real, a, which == PRODUCE_nvJitLinkGetLinkedCubin);
    }
}
