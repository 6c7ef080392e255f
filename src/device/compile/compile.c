/* From a .cu file to PTX: the order of attempts.
 *
 *     the PTX beside the source, if it was made from it -> the cache -> NVRTC -> nvcc -> clang -> one sentence
 *
 * A compiler that cannot take the file passes it on to the next, since NVRTC refuses what nvcc takes (host headers, a
 * main); the errors that are shown are those of the last compiler that understands all of CUDA. */
#include "compile/compile.h"
#include "report/report.h"
#include <stdlib.h>
#include <sys/stat.h>

enum {
    PATH_MOST = 3072,
    GATHERED_MOST = 15 /* instances of templates that are compiled again for those who may ask for them again */
};

/* ---- small questions ---- */

u32 compile_arch_number(const char *arch)
{
    const char *digits = arch ? strchr(arch, '_') : NULL;
    return digits ? (u32)strtoul(digits + 1, NULL, 10) : 0;
}

bool compile_arch(const char *text, char out[16])
{
    const char *p = !strncmp(text, "sm_", 3) ? text + 3 : !strncmp(text, "compute_", 8) ? text + 8 : text;
    size_t n = strspn(p, "0123456789");
    if (n < 2 || n > 4 || (p[n] && ((p[n] != 'a' && p[n] != 'f') || p[n + 1]))) return false;
    snprintf(out, 16, "sm_%.5s", p);
    return true;
}

const char *compile_instance(struct arena *a, const char *name)
{
    int depth = 0;
    u32 n = 0;
    for (; name[n] && (depth || name[n] != '('); n++) depth += (name[n] == '<') - (name[n] == '>' && depth);
    if (!memchr(name, '<', n) || strchr(name, '\n') || !strncmp(name, "_Z", 2)) return NULL;
    return arena_str(a, (struct str){ name, n });
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- the PTX beside the source ---- */

/* The checksum that cksum(1) prints, so that a shell script can write it and check it (tests/regen). */
static u32 posix_cksum(struct str s)
{
    u32 crc = 0;
    u64 n = s.n;
    for (u64 i = 0;; i++) {
        u8 byte;
        if (i < s.n) {
            byte = (u8)s.p[i];
        } else {
            if (!n) break;
            byte = (u8)n; /* the length follows the text, low byte first, without leading zeros */
            n >>= 8;
        }
        crc ^= (u32)byte << 24;
        for (int b = 0; b < 8; b++) crc = crc & 0x80000000u ? crc << 1 ^ 0x04c11db7u : crc << 1;
    }
    return ~crc;
}

/* "dir/name.cu" to "dir/name.ptx". */
static bool path_beside(const char *path, char *out, size_t size)
{
    size_t n = strlen(path);
    if (n < 4 || n + 2 > size || strcmp(path + n - 3, ".cu")) return false;
    snprintf(out, size, "%.*s.ptx", (int)(n - 3), path);
    return true;
}

/* True if the PTX is for an architecture that is newer than the one asked for, which could not run it. */
static bool is_too_new(struct str ptx, const char *arch)
{
    const char *target = strstr(ptx.p, ".target ");
    return compile_arch_number(target) > compile_arch_number(arch);
}

enum beside { BESIDE_NONE, BESIDE_NEWER, BESIDE_SAME };

/* What the PTX beside the source is worth: made from exactly this text by its first line, merely newer, or nothing. */
static enum beside beside_read(const char *path, struct str source, struct str *ptx)
{
    char other[PATH_MOST], mark[512];
    struct stat cu, pt;
    if (!path_beside(path, other, sizeof other) || stat(path, &cu) || stat(other, &pt) || !S_ISREG(pt.st_mode))
        return BESIDE_NONE;
    if (!file_read_if(other, ptx)) return BESIDE_NONE;
    int n = snprintf(mark, sizeof mark, "// made from %.300s, cksum %u\n", base_name(path), posix_cksum(source));
    if (ptx->n >= (u32)n && !memcmp(ptx->p, mark, (size_t)n)) return BESIDE_SAME;
    /* a mark that names another text beats any date: a checkout gives all files the same one */
    bool marked = ptx->n > 13 && !memcmp(ptx->p, "// made from ", 13);
    if (!marked && pt.st_mtime >= cu.st_mtime) return BESIDE_NEWER;
    base_free((void *)ptx->p);
    *ptx = (struct str){ NULL, 0 };
    return BESIDE_NONE;
}

char *compile_entry(struct arena *a, struct str ptx, const char *name)
{
    struct str found = { NULL, 0 };
    for (const char *p = strstr(ptx.p, ".entry "); p; p = strstr(p + 7, ".entry ")) {
        const char *from = p + 7 + strspn(p + 7, " \t");
        struct str entry = { from, (u32)strcspn(from, "( \t\r\n") };
        if (name_fits(entry, name) < NAME_WHOLE || (found.n && str_eq(found, entry))) continue;
        if (found.n) return NULL;
        found = entry;
    }
    return found.n ? arena_str(a, found) : NULL;
}

/* True if the PTX already contains every requested name; nothing can be instantiated at this point. */
static bool names_there(struct compile_result *r, const struct compile_options *o, struct str ptx)
{
    r->lowered = NEW_ARRAY(&r->mem, char *, o->names + 1);
    for (u32 i = 0; i < o->names; i++)
        if (compile_instance(&r->mem, o->name[i]) && !(r->lowered[i] = compile_entry(&r->mem, ptx, o->name[i])))
            return false;
    return true;
}

/* True if PTX made by somebody else, with flags unknown, may answer. */
static bool beside_allowed(const struct compile_options *o)
{
    return !o->fresh && o->flags - o->linked == o->own && !o->arch_exact && o->compiler == COMPILER_ANY;
}

/* ---- compiling ---- */

/* Nobody can compile it. `beside` is what the PTX beside it was found to be, too_new: for a newer architecture. */
static bool no_compiler(const struct compile_job *job, enum beside beside, bool too_new, struct error *e)
{
    const char *path = job->path;
    const struct compile_options *o = job->o;
    char other[PATH_MOST];
    bool there = beside_allowed(o) && path_beside(path, other, sizeof other) && file_exists(other);
    if (o->compiler == COMPILER_CLANG)
        return error_set(e, ERR_INPUT,
                         "clang is not here to compile %s, or no CUDA toolkit whose headers it needs: install both, or "
                         "leave --compiler out",
                         path);
    if (o->compiler != COMPILER_ANY)
        return error_set(e, ERR_INPUT, "%s is not here to compile %s: install it, or leave --compiler out",
                         compiler_name[o->compiler], path);
    char why[256] = "";
    const char *only = getenv("LOCKSTEP_TOOLKIT");
    if (only && only[0] && strcmp(only, "none"))
        return error_set(e, ERR_INPUT,
                         "no CUDA compiler is in LOCKSTEP_TOOLKIT=%.200s to compile %s: let it name a toolkit or a "
                         "Python environment with NVRTC, or unset it",
                         only, path);
    if (there && beside == BESIDE_NONE)
        snprintf(why, sizeof why, ", and it has changed since %.100s", base_name(other));
    else if (there && too_new)
        snprintf(why, sizeof why, ", and %.100s is for a newer architecture than %.40s", base_name(other), job->arch);
    else if (there && o->names)
        snprintf(why, sizeof why, ", and %.100s has no %.80s", base_name(other), o->name[0]);
    return error_set(e, ERR_INPUT,
                     "no CUDA compiler is here to compile %s%s: install NVRTC (pip install nvidia-cuda-nvrtc-cu12) or "
                     "the CUDA toolkit, "
                     "or compile it elsewhere with nvcc -ptx -lineinfo%s and pass the .ptx",
                     path, why, o->linked ? " -rdc=true" : "");
}

static bool any_instance(const struct compile_job *job)
{
    for (u32 i = 0; i < job->o->names; i++)
        if (compile_instance(job->mem, job->o->name[i])) return true;
    return false;
}

/* Keys of results in the cache. */
struct keys {
    char plain[HASH_HEX]; /* of the file as it is */
    char named[HASH_HEX]; /* with instances of templates: those that are asked for or, gathered, all of them so far */
};

/* The keys of a job; false: it cannot be known what the result depends on. */
static bool cache_keys(const struct compile_job *job, struct keys *k)
{
    struct hash h;
    const struct compile_options *o = job->o;
    char real[4096];
    hash_begin(&h);
    hash_add_text(&h, "lockstep 4");
    /* the path is part of the key because it stands in the .file lines of the result */
    hash_add_text(&h, job->path);
    hash_add_text(&h, realpath(job->path, real) ? real : "");
    hash_add_text(&h, job->arch);
    hash_add_text(&h, o->arch_exact ? "exact" : "");
    hash_add_text(&h, compiler_name[o->compiler]);
    for (u32 i = 0; i < o->flags; i++) hash_add_text(&h, o->flag[i]);
    toolkit_identity(job->toolkit, &h);
    for (u32 i = 0; stand_in_name(i); i++) hash_add_text(&h, stand_in_text(i));
    bool known = headers_hash(job, &h);
    hash_end(&h, k->plain);
    hash_begin(&h);
    hash_add_text(&h, k->plain);
    hash_add_text(&h, o->gather ? "gathered" : "named");
    for (u32 i = 0; !o->gather && i < o->names; i++) {
        const char *instance = compile_instance(job->mem, o->name[i]);
        hash_add_text(&h, instance ? instance : "");
    }
    hash_end(&h, k->named);
    return known;
}

void compile_log_free(struct compile_log *log)
{
    text_free(&log->ptx);
    text_free(&log->messages);
}

static bool attempt(enum compiler c, const struct compile_job *job, struct compile_log *log, struct error *e)
{
    static bool (*const by[])(const struct compile_job *, struct compile_log *,
                              struct error *) = { NULL, compile_nvrtc, compile_nvcc, compile_clang };
    *log = (struct compile_log){ 0 };
    if (by[c](job, log, e)) return true;
    if (!log->bad_arch || !log->older[0] || job->o->arch_exact || !strcmp(log->older, job->arch)) return false;
    /* a compiler older than the card: its newest architecture runs there too */
    char older[16];
    snprintf(older, sizeof older, "%s", log->older);
    compile_log_free(log);
    *log = (struct compile_log){ 0 };
    struct compile_job again = *job;
    again.arch = arena_str(job->mem, str_of(older));
    bool ok = by[c](&again, log, e);
    snprintf(log->older, sizeof log->older, "%s", older);
    return ok;
}

static bool take_result(const struct compile_job *job, struct compile_log *log, struct compile_result *r,
                        struct error *e)
{
    char *copy = base_alloc(log->ptx.n + 1);
    if (!copy) return error_set(e, ERR_MEMORY, "no memory for the PTX of %s", job->path);
    memcpy(copy, log->ptx.p, log->ptx.n);
    r->ptx = (struct str){ copy, (u32)log->ptx.n };
    snprintf(r->by, sizeof r->by, "%s", log->by);
    snprintf(r->arch, sizeof r->arch, "%s", log->older[0] ? log->older : job->arch);
    r->lowered = NEW_ARRAY(&r->mem, char *, job->o->names + 1);
    for (u32 i = 0; i < job->o->names; i++)
        r->lowered[i] = log->lowered && log->lowered[i] ? arena_str(&r->mem, str_of(log->lowered[i])) : NULL;
    return true;
}

/* A name that the compiler could not instantiate: what the source has instead. */
static bool name_error(const struct compile_job *job, const struct diagnosis *d, struct error *e)
{
    struct declared *list;
    word_list folders = { 0 }, files = { 0 };
    flags_paths(job->o, job->mem, &folders, &files);
    u32 n = declared_with_headers(job->mem, job->path, job->source, &folders, &list);
    const char *asked = "";
    for (u32 i = 0; i < job->o->names && !asked[0]; i++)
        asked = compile_instance(job->mem, job->o->name[i]) ? job->o->name[i] : "";
    struct text names = { 0 };
    u32 left = 0;
    for (u32 i = 0; i < n; i++) {
        bool again = false;
        for (u32 k = 0; k < i; k++) again |= str_eq(list[k].name, list[i].name);
        left += !again && names.n >= 200;
        if (!again && names.n < 200)
            text_add(&names, "%s%.100s", i ? ", " : "",
                     list[i].is_template ? declared_template(job->mem, &list[i]) : arena_str(job->mem, list[i].name));
    }
    if (left) text_add(&names, " and %u more", left);
    error_set(e, ERR_INPUT, "%.150s: there is no kernel `%.80s` (%.100s)%s%s", job->path, asked, d->first.text,
              n ? "; the file has " : "", names.p ? names.p : "");
    text_free(&names);
    return false;
}

/* Whether NVRTC stumbled over host code: a header that only hosts have, a function that is none of the device's. */
static bool is_host_trouble(const char *log)
{
    const char *missing = strstr(log, "open source file \"");
    char name[128] = "", path[160];
    if (missing) {
        missing = strchr(missing, '"') + 1;
        snprintf(name, sizeof name, "%.*s", (int)MIN_OF(strcspn(missing, "\""), sizeof name - 1), missing);
        snprintf(path, sizeof path, "/usr/include/%s", name);
        return !strchr(name, '.') || file_exists(path);
    }
    return strstr(log, "JIT mode") || strstr(log, "identifier \"cuda") || strstr(log, "namespace \"std");
}

/* What is said when nothing could compile the file: the errors of `log`. `unable` says that nvcc does not work, or is
 * NULL. */
static bool give_error(const struct compile_job *job, const struct compile_log *log, struct diagnosis *d, bool by_nvrtc,
                       const char *unable, struct error *e)
{
    if (process_signal()) return error_set(e, ERR_SYSTEM, "%s: interrupted while %s compiled it", job->path, log->by);
    if (d->names) return name_error(job, d, e);
    if (!d->errors)
        return error_set(e, ERR_INPUT, "%s: %s made no PTX and did not say why: %.300s", job->path, log->by,
                         log->messages.p ? log->messages.p : "");
    *e = d->first;
    size_t n = strlen(e->text);
    if (!e->where[0]) snprintf(e->where, sizeof e->where, "%.60s", log->by);
    if (d->errors > 1) n += (size_t)snprintf(e->text + n, sizeof e->text - n, " (and %u more)", d->errors - 1);
    const char *m = log->messages.p ? log->messages.p : "";
    if (n >= sizeof e->text) return false;
    if (unable)
        snprintf(e->text + n, sizeof e->text - n, "%s", unable);
    else if (strstr(m, "separate compilation mode") || strstr(m, "device-side kernel launch"))
        snprintf(e->text + n, sizeof e->text - n,
                 "; a kernel that launches kernels is compiled with -rdc=true, and a program of nvcc linked with "
                 "-lcudadevrt");
    else if (by_nvrtc && is_host_trouble(m))
        snprintf(
            e->text + n, sizeof e->text - n,
            "; NVRTC takes device code only: %s nvcc for a file with host code, or give the kernel a file of its own",
            toolkit_has(job->toolkit, COMPILER_NVCC) ? "take" : "install");
    else if (strstr(m, "open source file") || strstr(m, "file not found") || strstr(m, ": No such file or directory"))
        snprintf(e->text + n, sizeof e->text - n, "; -I FOLDER says where to look for it");
    return false;
}

/* Tries the compilers in order. The errors that count are nvcc's, else NVRTC's, else clang's. */
static bool compile_now(const struct compile_job *job, struct compile_result *r, struct error *e)
{
    struct compile_log log, kept = { 0 };
    struct diagnosis d, kept_d = { 0 };
    struct text passed = { 0 }; /* who could not take it, and why */
    struct text unable = { 0 }; /* that nvcc is here and does not work */
    enum compiler kept_by = COMPILER_ANY;
    bool ok = false, stop = false;
    for (enum compiler c = COMPILER_NVRTC; c < COMPILER_COUNT && !ok && !stop; c++) {
        if (!toolkit_has(job->toolkit, c) || (job->o->compiler != COMPILER_ANY && job->o->compiler != c)) continue;
        struct error broken = { 0 };
        ok = attempt(c, job, &log, &broken);
        diagnose(job, &log, &d);
        if (broken.code) {
            error_set(&d.first, broken.code, "%s", broken.text);
            d.errors += !d.errors;
        }
        if (!ok && d.first.code)
            text_add(&passed, "%s could not take it (%s%s%.120s); ", log.by[0] ? log.by : compiler_name[c],
                     d.first.where, d.first.where[0] ? ": " : "", d.first.text);
        stop = !ok && (d.names || process_signal());
        /* an nvcc that cannot even begin (no host compiler) has nothing to say about the source */
        bool better = !kept_by || ok || (c == COMPILER_NVCC && (d.first.where[0] || !kept_d.first.where[0]));
        if (!better && c == COMPILER_NVCC) text_add(&unable, "; nvcc is here and fails: %.150s", d.first.text);
        if (better) {
            compile_log_free(&kept);
            text_free(&kept_d.report);
            kept = log;
            kept_d = d;
            kept_by = c;
        } else {
            compile_log_free(&log);
            text_free(&d.report);
        }
    }
    text_free(&r->log);
    r->log = kept_d.report;
    if (kept_d.names) text_free(&r->log); /* how the compiler was asked is nobody's business */
    if (ok)
        ok = take_result(job, &kept, r, e);
    else
        give_error(job, &kept, &kept_d, kept_by == COMPILER_NVRTC, unable.p, e);
    if (ok) text_add(&r->note, "%s: %scompiled by %s for %s", job->path, passed.p ? passed.p : "", r->by, r->arch);
    compile_log_free(&kept);
    text_free(&passed);
    text_free(&unable);
    return ok;
}

/* From the cache: what was compiled without names may have the instance, too, since host code launches it. */
static bool take_cached(const struct compile_job *job, const struct keys *k, bool named, struct compile_result *r)
{
    const struct compile_options *o = job->o;
    bool found = ((!named || o->gather) && cache_take(k->plain, o, r)) || (named && cache_take(k->named, o, r));
    if (found) text_add(&r->note, "%s: compiled by %s for %s, from the cache", job->path, r->by, r->arch);
    return found;
}

static bool has_instance(struct arena *a, const struct compile_options *o, const char *name)
{
    for (u32 i = 0; i < o->names; i++) {
        const char *own = compile_instance(a, o->name[i]);
        if (own && !strcmp(own, name)) return true;
    }
    return false;
}

/* The names that are compiled: those requested now, then earlier ones. */
static void gather(const struct compile_job *job, const char *key, struct compile_options *o)
{
    word_list name = { 0 }, before = { 0 };
    cache_instances(job->mem, key, &before);
    for (u32 i = 0; i < o->names; i++) VEC_PUSH(job->mem, &name, o->name[i]);
    for (u32 i = 0; i < before.n && name.n < o->names + GATHERED_MOST; i++)
        if (!has_instance(job->mem, o, before.p[i])) VEC_PUSH(job->mem, &name, before.p[i]);
    o->name = name.p;
    o->names = name.n;
}

/* What was gathered is hidden from all but whoever asked for it. */
static void hide(struct compile_result *r, u32 asked, u32 all)
{
    u32 n = 0;
    r->hidden = NEW_ARRAY(&r->mem, char *, all - asked + 1);
    for (u32 i = asked; i < all; i++) {
        bool meant = !r->lowered[i];
        for (u32 k = 0; k < asked; k++)
            meant |= r->lowered[k] && r->lowered[i] && !strcmp(r->lowered[k], r->lowered[i]);
        if (!meant) r->hidden[n++] = r->lowered[i];
    }
}

static bool compile_cached(const struct compile_job *job, struct compile_result *r, struct error *e)
{
    struct keys k, again;
    u64 limit;
    if (!cache_limit_read(&limit, e)) return false;
    bool known = limit && cache_keys(job, &k), named = any_instance(job);
    if (known && !job->o->fresh && take_cached(job, &k, named, r)) return true;
    struct compile_options all = *job->o;
    struct compile_job with = *job;
    with.o = &all;
    if (known && named && all.gather && !all.fresh) gather(job, k.named, &all);
    if (!compile_now(&with, r, e)) return false;
    if (all.names > job->o->names) hide(r, job->o->names, all.names);
    /* a file that changed while the compiler ran belongs to no key */
    if (known && cache_keys(job, &again) && !strcmp(k.plain, again.plain))
        cache_keep(named ? k.named : k.plain, job->path, &all, r);
    return true;
}

/* With the source in memory. */
static bool compile_source(struct compile_job *job, struct compile_result *r, struct error *e)
{
    const struct compile_options *o = job->o;
    struct str ptx = { NULL, 0 };
    enum beside beside = beside_allowed(o) ? beside_read(job->path, job->source, &ptx) : BESIDE_NONE;
    bool too_new = beside != BESIDE_NONE && is_too_new(ptx, job->arch);
    bool fits = beside != BESIDE_NONE && !too_new && names_there(r, o, ptx);
    struct toolkit *t = NEW(job->mem, struct toolkit);
    job->toolkit = t;
    if (beside == BESIDE_SAME && fits && !o->linked) {
        text_add(&r->note, "%s: took the PTX beside it, which was made from it", job->path);
        r->ptx = ptx;
        return true;
    }
    toolkit_find(t);
    if (!toolkit_has(t, o->compiler)) {
        if (beside != BESIDE_NONE && (fits || !o->names)) {
            text_add(&r->note, "%s: no CUDA compiler is here; took the PTX beside it", job->path);
            r->ptx = ptx;
            return true;
        }
        base_free((void *)ptx.p);
        return no_compiler(job, beside, too_new, e);
    }
    base_free((void *)ptx.p);
    return compile_cached(job, r, e);
}

bool compile_cu(const char *path, const struct compile_options *o, struct compile_result *out, struct error *e)
{
    static const struct compile_options plain = { 0 };
    *out = (struct compile_result){ 0 };
    text_put(&out->note, "", 0);
    text_put(&out->log, "", 0);
    o = o ? o : &plain;
    struct arena mem = { 0 };
    struct compile_job job = { .path = path, .o = o, .arch = o->arch ? o->arch : "sm_90", .mem = &mem };
    if (strlen(path) > PATH_MOST - 64) return error_set(e, ERR_INPUT, "the path %.80s... is too long", path);
    if (!file_read(path, &job.source, e)) return false;
    snprintf(out->arch, sizeof out->arch, "%.15s", job.arch);
    /* NVRTC would compile what stands before it, and nobody would know */
    const char *zero = memchr(job.source.p, 0, job.source.n);
    bool ok = zero
                  ? error_at(e, ERR_INPUT, path, job.source, zero, "there is a zero byte here: this is not source text")
                  : compile_source(&job, out, e);
    base_free((void *)job.source.p);
    arena_free(&mem);
    return ok;
}

void compile_result_free(struct compile_result *r)
{
    base_free((void *)r->ptx.p);
    text_free(&r->note);
    text_free(&r->log);
    arena_free(&r->mem);
    *r = (struct compile_result){ 0 };
}
