/* The program that nvcc makes of a source file, and keeping it. */
#include "verbs/run_source.h"
#include "verbs/nvcc.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <lockstep.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEEP = 24, PATH_BYTES = 3500 }; /* programs that are kept */

bool run_source_is(const char *word)
{
    size_t n = strlen(word);
    return n > 3 && !strcmp(word + n - 3, ".cu");
}

/* ---- what a program was made of ---- */

static bool file_hash(const char *path, char hex[HASH_HEX])
{
    struct str text;
    struct hash h;
    if (!file_read_if(path, &text)) return false;
    hash_begin(&h);
    hash_add(&h, text.p, text.n);
    hash_end(&h, hex);
    base_free((void *)(uintptr_t)text.p);
    return true;
}

/* Lines "HASH NAME". */
static bool is_current(const char *list)
{
    struct str text;
    char name[PATH_BYTES], hex[HASH_HEX];
    if (!file_read_if(list, &text)) return false;
    bool same = text.n > 0;
    for (const char *p = text.p; *p && same;) {
        size_t n = strcspn(p, "\n");
        same = n > HASH_HEX && n - HASH_HEX < sizeof name;
        if (!same) break;
        snprintf(name, sizeof name, "%.*s", (int)(n - HASH_HEX), p + HASH_HEX);
        same = file_hash(name, hex) && !memcmp(hex, p, HASH_HEX - 1);
        p += n + (p[n] == '\n');
    }
    base_free((void *)(uintptr_t)text.p);
    return same;
}

/* The next name of a rule of make, "app : a.cu b\ c.h \"; false: there is none. */
static bool name_next(const char **at, char *out, size_t size)
{
    const char *p = *at;
    size_t n = 0;
    while (*p == ' ' || *p == '\n' || *p == '\t' || (*p == '\\' && p[1] == '\n')) p++;
    for (; *p && *p != ' ' && *p != '\n' && n + 1 < size; p++) {
        if (*p == '\\' && p[1] == '\n') break;
        if ((*p == '\\' && p[1] == ' ') || (*p == '$' && p[1] == '$')) p++;
        out[n++] = *p;
    }
    out[n] = 0;
    *at = p;
    return n > 0;
}

/* From the rule that the compiler wrote. */
static bool list_write(const char *rule, const char *list, struct error *e)
{
    struct str text;
    struct text t = { 0 };
    char name[PATH_BYTES], whole[4096], hex[HASH_HEX];
    if (!file_read(rule, &text, e)) return false;
    const char *p = strstr(text.p, ": ");
    bool ok = p != NULL;
    for (p = p ? p + 1 : ""; ok && name_next(&p, name, sizeof name);) {
        ok = realpath(name, whole) && file_hash(whole, hex);
        if (ok) text_add(&t, "%s %s\n", hex, whole);
    }
    base_free((void *)(uintptr_t)text.p);
    ok = ok && t.n && file_write(list, t.p, t.n, e);
    text_free(&t);
    return ok;
}

/* ---- the folder ---- */

static bool store_find(char *out, size_t size)
{
    char folder[PATH_BYTES - 100];
    return lk_cache_limit() && lk_cache_folder(folder, sizeof folder) &&
           snprintf(out, size, "%s/run", folder) < (int)size;
}

u32 run_source_clear(void)
{
    char store[PATH_BYTES];
    u32 n = 0;
    DIR *d = store_find(store, sizeof store) ? opendir(store) : NULL;
    for (struct dirent *f; d && (f = readdir(d));) n += f->d_name[0] != '.';
    if (d) closedir(d);
    if (n) folder_remove(store);
    return n;
}

/* Removes least recently used programs until few enough are left. */
static void store_trim(const char *store)
{
    for (;;) {
        char oldest[PATH_BYTES + 300] = "", path[PATH_BYTES + 300];
        time_t used = 0;
        u32 n = 0;
        DIR *d = opendir(store);
        for (struct dirent *f; d && (f = readdir(d));) {
            struct stat st;
            snprintf(path, sizeof path, "%s/%s", store, f->d_name);
            if (f->d_name[0] == '.' || stat(path, &st)) continue;
            if (!n++ || st.st_mtime < used) {
                used = st.st_mtime;
                snprintf(oldest, sizeof oldest, "%s", path);
            }
        }
        if (d) closedir(d);
        if (n <= KEEP) return;
        folder_remove(oldest);
    }
}

/* Folders above the last one, too. */
static bool folders_make(const char *path, struct error *e)
{
    char part[PATH_BYTES + 100];
    for (size_t i = 1; path[i]; i++)
        if (path[i] == '/') {
            snprintf(part, sizeof part, "%.*s", (int)i, path);
            mkdir(part, 0777);
        }
    return folder_make(path, e);
}

/* ---- compiling ---- */

/* nvcc hands names to a shell. */
static bool name_is_plain(const char *path, struct error *e)
{
    return !strpbrk(path, "\"'`$\\;&|<>()*?[]{}!# \t\n") ||
           error_set(e, ERR_INPUT, "%.200s: nvcc hands names to a shell, for which this one has no plain letters",
                     path);
}

static u32 arch_of(const char *device, struct error *e)
{
    char name[80];
    lk_gpu *gpu;
    snprintf(name, sizeof name, "%.*s", (int)(device ? strcspn(device, ",") : 0), device ? device : "");
    lk_options o = { .size = sizeof o, .device = name[0] ? name : NULL, .threads = 1 };
    if (lk_gpu_create(&o, &gpu) != LK_OK) {
        error_set(e, ERR_INPUT, "%.300s", lk_gpu_error(NULL));
        return 0;
    }
    u32 arch = lk_gpu_arch(gpu);
    lk_gpu_destroy(gpu);
    return arch;
}

static void key_make(const char *nvcc, const char *path, u32 arch, char hex[HASH_HEX])
{
    static const char *const variables[] = { "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN" };
    struct hash h;
    struct stat st = { 0 };
    stat(nvcc, &st);
    hash_begin(&h);
    hash_add_text(&h, "run 1");
    hash_add_text(&h, nvcc);
    hash_add(&h, &st.st_mtime, sizeof st.st_mtime);
    hash_add_text(&h, path);
    hash_add(&h, &arch, sizeof arch);
    for (u32 i = 0; i < COUNT_OF(variables); i++) hash_add_text(&h, getenv(variables[i]) ? getenv(variables[i]) : "");
    hash_end(&h, hex);
}

/* Into `folder`, with names that nobody else uses, then in one step under its own. */
static bool compile(const char *nvcc, const char *path, u32 arch, const char *folder, const char *app, const char *list,
                    bool verbose, struct error *e)
{
    /* what ptxas says of wgmma and its like, which are of this very architecture alone: sm_90a has them */
    static const char foreign[] = "not supported on .target";
    char to[PATH_BYTES + 200], rule[PATH_BYTES + 200], target[80];
    struct text said = { 0 };
    snprintf(to, sizeof to, "%s/app.%d", folder, (int)getpid());
    snprintf(rule, sizeof rule, "%s/rule.%d", folder, (int)getpid());
    const char *const words[] = { nvcc, target, "-lineinfo", "-g", "-cudart=shared", "-MD", "-MF", rule,
                                  "-o", to,     path,        NULL };
    int status = 0;
    for (u32 features = 0; features < 2; features++) {
        /* nvcc 13 takes -arch=sm_90a for sm_90a and compute_90 */
        snprintf(target, sizeof target,
                 features ? "-gencode=arch=compute_%ua,code=[sm_%ua,compute_%ua]" : "-arch=sm_%u", arch, arch, arch);
        if (verbose) {
            fputs("lockstep:", stderr);
            for (u32 i = 0; words[i]; i++) fprintf(stderr, " %s", words[i]);
            fputc('\n', stderr);
        }
        text_free(&said);
        said = (struct text){ 0 };
        status = process_run((char *const *)(uintptr_t)words, &said);
        if (status <= 0 || !said.n || !strstr(said.p, foreign)) break;
    }
    if (said.n) fputs(said.p, stderr);
    text_free(&said);
    bool ok = status == 0 || error_set(e, ERR_INPUT, status < 0 ? "cannot run %.200s" : "%.200s was not compiled",
                                       status < 0 ? nvcc : path);
    ok = ok && list_write(rule, list, e);
    if (ok && rename(to, app)) ok = error_set(e, ERR_SYSTEM, "cannot write %.200s: %s", app, strerror(errno));
    unlink(rule);
    unlink(to);
    return ok;
}

bool run_source_build(const char *path, const char *device, const char *scratch, bool verbose, char *out, size_t size,
                      struct error *e)
{
    char nvcc[1024], whole[4096], store[PATH_BYTES], folder[PATH_BYTES + 50], list[PATH_BYTES + 100], key[HASH_HEX];
    if (!realpath(path, whole)) return error_set(e, ERR_INPUT, "%.200s: %s", path, strerror(errno));
    if (!name_is_plain(whole, e)) return false;
    if (!nvcc_find(nvcc))
        return error_set(e, ERR_INPUT,
                         "%.200s: no nvcc is here to compile it; it comes with a CUDA toolkit: put it on PATH or set "
                         "CUDA_HOME",
                         path);
    u32 arch = arch_of(device, e);
    if (!arch) return false;
    key_make(nvcc, whole, arch, key);
    bool kept = store_find(store, sizeof store);
    if (kept)
        snprintf(folder, sizeof folder, "%s/%s", store, key);
    else
        snprintf(folder, sizeof folder, "%s/source", scratch);
    snprintf(out, size, "%s/app", folder);
    snprintf(list, sizeof list, "%s/files", folder);
    if (kept && file_exists(out) && is_current(list)) {
        utimensat(AT_FDCWD, folder, NULL, 0);
        return true;
    }
    if (!folders_make(folder, e) || !compile(nvcc, path, arch, folder, out, list, verbose, e)) return false;
    if (kept) store_trim(store);
    return true;
}
