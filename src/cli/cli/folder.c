/* The kernels of a folder: all .cu and .ptx files below it that have a contract, by name. Hidden folders, and those
 * that builds and environments are in, are passed over. */
#include "cli/folder.h"
#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { DEEP = 64 }; /* folders in folders */

struct walk {
    struct arena *mem;
    struct folder_files *to;
    struct error *e;
};

static bool is_left_out(const char *name)
{
    static const char *const made[] = { ".*",          "build",        "build-*", "_build",       "cmake-build-*",
                                        "__pycache__", "node_modules", "venv",    "site-packages" };
    for (u32 i = 0; i < COUNT_OF(made); i++)
        if (!fnmatch(made[i], name, 0)) return true;
    return false;
}

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n > m && !strcmp(name + n - m, end);
}

/* Whether a text of `n` characters begins with this word and a blank. */
static bool begins(const char *p, size_t n, const char *word)
{
    size_t length = strlen(word);
    return n > length && !memcmp(p, word, length) && (p[length] == ' ' || p[length] == '\t');
}

/* Whether a line of it begins a block, `//! kernel NAME`, or can only be one of a block whose first line is misspelt:
 * such a file is tested, which says what is wrong with it. Doxygen's comments begin with the same characters. */
static bool has_contract(struct str text)
{
    static const char *const word[] = { "kernel", "arg", "oracle" };
    for (const char *p = text.p, *end = text.p + text.n; p < end;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop ? stop : end;
        while (p < stop && (*p == ' ' || *p == '\t')) p++;
        if (stop - p > 3 && !memcmp(p, "//!", 3)) {
            for (p += 3; p < stop && (*p == ' ' || *p == '\t');) p++;
            for (u32 i = 0; i < COUNT_OF(word); i++)
                if (begins(p, (size_t)(stop - p), word[i])) return true;
        }
        p = stop + 1;
    }
    return false;
}

/* PTX beside the source of the same name is made from it, and is not tested for itself. */
static bool is_made(const char *path)
{
    char source[4096];
    struct stat st;
    size_t n = strlen(path) - strlen(".ptx");
    snprintf(source, sizeof source, "%.*s.cu", (int)n, path);
    return ends_with(path, ".ptx") && !stat(source, &st);
}

static void take_file(struct walk *w, const char *path)
{
    struct str text;
    struct error unread = { 0 };
    if ((!ends_with(path, ".cu") && !ends_with(path, ".ptx")) || is_made(path)) return;
    bool read = file_read(path, &text, &unread), has = !read || has_contract(text);
    if (read) base_free((void *)text.p);
    if (has) /* one that cannot be read says so when its turn comes */
        VEC_PUSH(w->mem, &w->to->file, path);
    else
        w->to->bare++;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static bool take_folder(struct walk *w, const char *path, u32 depth)
{
    VEC(const char *) name = { 0 };
    DIR *d = opendir(path);
    if (!d) return error_set(w->e, ERR_INPUT, "the folder %.300s cannot be read", path);
    for (const struct dirent *f; (f = readdir(d));)
        if (!is_left_out(f->d_name)) VEC_PUSH(w->mem, &name, arena_str(w->mem, str_of(f->d_name)));
    closedir(d);
    if (name.n) qsort(name.p, name.n, sizeof *name.p, by_name);
    for (u32 i = 0; i < name.n; i++) {
        struct stat st, link;
        bool slash = ends_with(path, "/");
        const char *inside = arena_printf(w->mem, "%s%s%s", path, slash ? "" : "/", name.p[i]);
        if (lstat(inside, &link)) continue;
        if (stat(inside, &st))
            st = (struct stat){ .st_mode = S_IFREG }; /* a link to nothing: said when its turn comes */
        if (S_ISREG(st.st_mode)) take_file(w, inside);
        /* a link to a folder may lead back */
        if (S_ISDIR(link.st_mode) && depth < DEEP && !take_folder(w, inside, depth + 1)) return false;
    }
    return true;
}

bool folder_files(struct arena *a, const char *const *word, u32 n, struct folder_files *out, struct error *e)
{
    struct walk w = { a, out, e };
    for (u32 i = 0; i < n; i++) {
        struct stat st;
        u32 before = out->file.n;
        bool folder = !stat(word[i], &st) && S_ISDIR(st.st_mode);
        if (!folder) {
            VEC_PUSH(a, &out->file, word[i]);
            continue;
        }
        if (!take_folder(&w, word[i], 0)) return false;
        if (out->file.n == before)
            return error_set(e, ERR_NOTHING,
                             "%.200s has no .cu or .ptx file with a contract: nothing is judged (%u without one)",
                             word[i], out->bare);
    }
    return true;
}
