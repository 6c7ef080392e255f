/* From a .cu file to PTX: the order of attempts, the cache, and the compiler's first error as one of ours.
 *
 * The cache is content-addressed: the name of an entry is a hash of the source, the options and the identity of the compilers.
 * Entries are written beside and renamed, so that any number of processes may share it; an entry is never wrong, at worst
 * missing. A source that includes a file of its own is compiled every time, because the hash does not see that file. */
#include "compile/compile.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { PATH_MOST = 3072 };

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
            if (!n)
                break;
            byte = (u8)n;       /* the length follows the text, low byte first, without leading zeros */
            n >>= 8;
        }
        crc ^= (u32)byte << 24;
        for (int b = 0; b < 8; b++)
            crc = crc & 0x80000000u ? crc << 1 ^ 0x04c11db7u : crc << 1;
    }
    return ~crc;
}

/* "dir/name.cu" to "dir/name.ptx". */
static bool path_beside(const char *path, char *out, size_t size)
{
    size_t n = strlen(path);
    if (n < 4 || n + 2 > size || strcmp(path + n - 3, ".cu"))
        return false;
    snprintf(out, size, "%.*s.ptx", (int)(n - 3), path);
    return true;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The number behind sm_ or compute_; 0: none. */
static u32 arch_number(const char *p)
{
    const char *digits = p ? strchr(p, '_') : NULL;
    return digits ? (u32)strtoul(digits + 1, NULL, 10) : 0;
}

/* True if the PTX is for an architecture that is newer than the one asked for, which could not run it. */
static bool is_too_new(struct str ptx, const char *arch)
{
    const char *target = strstr(ptx.p, ".target ");
    return arch_number(target) > arch_number(arch);
}

enum beside { BESIDE_NONE, BESIDE_NEWER, BESIDE_SAME };

/* What the PTX beside the source is worth: made from exactly this text by its first line, merely newer, or nothing. */
static enum beside beside_read(const char *path, struct str source, struct str *ptx)
{
    char other[PATH_MOST], mark[512];
    struct stat cu, pt;
    if (!path_beside(path, other, sizeof other) || stat(path, &cu) || stat(other, &pt) || !S_ISREG(pt.st_mode))
        return BESIDE_NONE;
    struct error ignored = { 0 };
    if (!file_read(other, ptx, &ignored))
        return BESIDE_NONE;
    int n = snprintf(mark, sizeof mark, "// made from %.300s, cksum %u\n", base_name(path), posix_cksum(source));
    if (ptx->n >= (u32)n && !memcmp(ptx->p, mark, (size_t)n))
        return BESIDE_SAME;
    /* a mark that names another text beats any date: a checkout gives all files the same one */
    bool marked = ptx->n > 13 && !memcmp(ptx->p, "// made from ", 13);
    if (!marked && pt.st_mtime >= cu.st_mtime)
        return BESIDE_NEWER;
    base_free((void *)ptx->p);
    return BESIDE_NONE;
}

/* True if a line includes a file by "name": its contents are not in the hash. */
static bool includes_local(struct str source)
{
    const char *end = source.p + source.n;
    for (const char *p = source.p; p < end; p++) {
        while (p < end && (*p == ' ' || *p == '\t'))
            p++;
        if (p < end && *p == '#') {
            p++;
            while (p < end && (*p == ' ' || *p == '\t'))
                p++;
            if (end - p > 7 && !memcmp(p, "include", 7)) {
                p += 7;
                while (p < end && (*p == ' ' || *p == '\t'))
                    p++;
                if (p < end && *p != '<')
                    return true;
            }
        }
        while (p < end && *p != '\n')
            p++;
    }
    return false;
}

/* The path of the entry for this source, with its folders made. false: there is to be no cache. */
static bool cache_path(const char *path, struct str source, const char *arch, const struct toolkit *t, char *out, size_t size)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char folder[PATH_MOST];
    int n = xdg && xdg[0] == '/' ? snprintf(folder, sizeof folder, "%s", xdg)
          : home && home[0] == '/' ? snprintf(folder, sizeof folder, "%s/.cache", home) : -1;
    if (n < 0 || n > PATH_MOST - 64 || includes_local(source))
        return false;
    if (mkdir(folder, 0777) && errno != EEXIST)
        return false;
    strcat(folder, "/lockstep");
    if (mkdir(folder, 0777) && errno != EEXIST)
        return false;
    /* the path is part of the key because it stands in the .file lines of the result */
    struct text key = { 0 };
    text_add(&key, "lockstep 1 %s %s\n", arch, path);
    toolkit_identity(t, &key);
    text_put(&key, source.p, source.n);
    u64 a = str_hash((struct str){ key.p, (u32)key.n });
    text_add(&key, "%016llx", (unsigned long long)a);
    u64 b = str_hash((struct str){ key.p, (u32)key.n });
    text_free(&key);
    return snprintf(out, size, "%s/%016llx%016llx.ptx", folder, (unsigned long long)a, (unsigned long long)b) < (int)size;
}

static bool is_regular(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && st.st_size > 0;
}

/* Both compilers write "file(12): error: what" (nvrtc also "file(12): error #20: what"), then the line and a caret. */
static bool log_to_error(const char *path, struct str source, const struct compile_log *log, struct error *e)
{
    const char *text = log->messages.p ? log->messages.p : "";
    const char *hit = strstr(text, "error");
    u32 more = 0;
    for (const char *p = hit ? strstr(hit + 5, "): error") : NULL; p; p = strstr(p + 8, "): error"))
        more++;
    if (!hit)
        return error_set(e, ERR_INPUT, "%s: %s made no PTX and did not say why: %.300s", path, log->by, text);
    const char *from = hit, *to = hit;
    while (from > text && from[-1] != '\n')
        from--;
    while (*to && *to != '\n')
        to++;
    const char *what = memchr(hit, ':', (size_t)(to - hit));
    what = what ? what + 1 + (what[1] == ' ') : hit;
    char also[64] = "";
    if (more)
        snprintf(also, sizeof also, " (and %u more)", more);
    const char *open = memchr(from, '(', (size_t)(hit - from));
    unsigned long line = open && isdigit((unsigned char)open[1]) ? strtoul(open + 1, NULL, 10) : 0;
    size_t name = open ? (size_t)(open - from) : 0;
    bool ours = name >= strlen(base_name(path)) && !memcmp(open - strlen(base_name(path)), base_name(path), strlen(base_name(path)));
    if (!line || !ours) {
        /* an error in a header, or one without a place: the compiler's own line says where */
        return error_set(e, ERR_INPUT, "%s: %.*s%s", log->by, (int)MIN_OF(to - from, 380), from, also);
    }
    const char *at = source.p, *end = source.p + source.n;
    for (unsigned long l = 1; l < line && at < end; at++)
        l += *at == '\n';
    /* the compiler's caret: its line follows the echoed source line, indented by the same amount */
    const char *echo = *to ? to + 1 : to, *caret = strchr(echo, '\n');
    const char *first = echo + strspn(echo, " \t"), *mark = caret ? caret + 1 + strspn(caret + 1, " \t") : NULL;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    if (mark && *mark == '^' && mark - caret > first - echo)
        at = MIN_OF(at + ((mark - caret - 1) - (first - echo)), end);
    return error_at(e, ERR_INPUT, path, source, at, "%.*s%s", (int)MIN_OF(to - what, 400), what, also);
}

/* Runs NVRTC, and nvcc when NVRTC is missing or could not take the file (host headers, a main). */
static bool compile_now(const struct toolkit *t, const char *path, struct str source, const char *arch, struct compile_log *log, struct error *e)
{
    struct error by_library = { 0 };
    if (t->nvrtc[0] && toolkit_nvrtc(t, path, source, arch, log, &by_library))
        return true;
    if (!t->nvcc[0])
        return by_library.code ? error_set(e, by_library.code, "%s", by_library.text) : log_to_error(path, source, log, e);
    compile_log_free(log);
    *log = (struct compile_log){ 0 };
    if (toolkit_nvcc(t, path, arch, log, e))
        return true;
    return log_to_error(path, source, log, e);
}

static void note(const struct compile_options *o, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void note(const struct compile_options *o, const char *fmt, ...)
{
    if (!o->note || !o->note_size)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(o->note, o->note_size, fmt, ap);
    va_end(ap);
}

static bool no_compiler(const char *path, struct error *e)
{
    char other[PATH_MOST];
    bool there = path_beside(path, other, sizeof other) && is_regular(other);
    return error_set(e, ERR_INPUT, "no CUDA compiler is here to compile %s%s%s: install NVRTC (pip install nvidia-cuda-nvrtc-cu12) or the CUDA toolkit, "
                     "or compile it elsewhere with nvcc -ptx -lineinfo and pass the .ptx", path, there ? ", and it has changed since " : "",
                     there ? base_name(other) : "");
}

/* With the source in memory: the attempts, in order. */
static bool compile_source(const char *path, struct str source, const struct compile_options *o, struct str *ptx, struct error *e)
{
    const char *arch = o->arch ? o->arch : "sm_90";
    char entry[PATH_MOST + 64];
    enum beside beside = beside_read(path, source, ptx);
    if (beside == BESIDE_SAME && !o->fresh && !is_too_new(*ptx, arch)) {
        note(o, "%s: took the PTX beside it, which was made from it", path);
        return true;
    }
    struct toolkit t;
    toolkit_find(&t);
    if (!t.nvrtc[0] && !t.nvcc[0]) {
        if (beside == BESIDE_NONE)
            return no_compiler(path, e);
        note(o, "%s: no CUDA compiler is here; took the PTX beside it", path);
        return true;
    }
    if (beside != BESIDE_NONE)
        base_free((void *)ptx->p);
    bool cached = cache_path(path, source, arch, &t, entry, sizeof entry);
    struct error ignored = { 0 };
    if (cached && !o->fresh && is_regular(entry) && file_read(entry, ptx, &ignored)) {
        note(o, "%s: compiled for %s, from the cache", path, arch);
        return true;
    }
    struct compile_log log = { 0 };
    bool ok = compile_now(&t, path, source, arch, &log, e);
    char *copy = ok ? base_alloc(log.ptx.n + 1) : NULL;
    if (copy) {
        memcpy(copy, log.ptx.p, log.ptx.n);
        *ptx = (struct str){ copy, (u32)log.ptx.n };
        note(o, "%s: compiled by %s for %s", path, log.by, arch);
        if (cached)
            file_write(entry, copy, log.ptx.n, &ignored);       /* a full disk costs a compilation next time, no more */
    } else if (ok) {
        ok = error_set(e, ERR_MEMORY, "no memory for the PTX of %s", path);
    }
    compile_log_free(&log);
    return ok;
}

bool compile_cu(const char *path, const struct compile_options *o, struct str *ptx, struct error *e)
{
    static const struct compile_options plain = { 0 };
    struct str source;
    if (strlen(path) > PATH_MOST - 64)
        return error_set(e, ERR_INPUT, "the path %.80s... is too long", path);
    if (!file_read(path, &source, e))
        return false;
    bool ok = compile_source(path, source, o ? o : &plain, ptx, e);
    base_free((void *)source.p);
    return ok;
}
