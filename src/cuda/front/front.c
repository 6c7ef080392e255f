/* What the loader asks of an audit module, and the first call of a redirected entry. */
#include "front/front.h"
#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, FILES = 13, OWN = 1, ENGINE = 2, CLOCKS = 3 }; /* cookies: of objects of ours; of has_clock */
#define PUBLIC __attribute__((visibility("default")))

const char *const front_runtime_file[FRONT_RUNTIMES] = { "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13" };

/* Files of ours, and which requests they answer: the name itself, the name with further numbers after it, and the
 * name of the file that linkers look for. */
static const struct {
    const char *file;   /* in the module's folder */
    const char *linked; /* what a dlopen without a version asks for; NULL: another file has it */
} files[FILES] = {
    { "libcuda.so.1", "libcuda.so" },
    { "libcudart.so.11.0", NULL },
    { "libcudart.so.12", NULL },
    { "libcudart.so.13", "libcudart.so" },
    { "libnvidia-ml.so.1", "libnvidia-ml.so" },
    { "libcublas.so.12", NULL },
    { "libcublas.so.13", "libcublas.so" },
    { "libcublasLt.so.12", NULL },
    { "libcublasLt.so.13", "libcublasLt.so" },
    { "libcurand.so.10", "libcurand.so" },
    { "libcufft.so.11", NULL },
    { "libcufft.so.12", "libcufft.so" },
    { "libcuda.so", NULL }, /* libcuda.so.580.65.06: the first one */
};
static char folder[PATH_BYTES];             /* where the module and our files lie */
static char answer[FILES][PATH_BYTES + 64]; /* path of each file of ours; "": it is not there */
static bool verbose;                        /* LOCKSTEP_LOG has the word front */

void front_say(const char *format, ...)
{
    char line[2 * PATH_BYTES];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    if (n < 0) return;
    size_t bytes = (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
    line[bytes++] = '\n';
    if (write(2, line, bytes) < 0) return; /* there is nobody to tell */
}

void *front_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* ---- entries ---- */

static const struct {
    const char *name, *variant; /* "NAME_ptsz", or the same again: there is none */
    uint32_t first, last;       /* runtimes that have it */
} known[] = {
#define RT(name, first, last, variant, returns, parameters, ...) { #name, #name SUFFIX_##variant, first, last },
#define SUFFIX_one ""
#define SUFFIX_ptsz "_ptsz"
#define SUFFIX_ptds "_ptds"
#include "abi/cudart.def"
};
enum { KNOWN = sizeof known / sizeof known[0] };
/* 2 * KNOWN of them, a function and its variant each; NULL: this runtime was not met yet */
static struct front_entry *entries[FRONT_RUNTIMES];

void front_resolver(void); /* front_branch.c */

/* Twice the index of a name in `known`, plus 1 for a variant; SIZE_MAX: unknown name. */
static size_t known_find(const char *name)
{
    size_t low = 0, high = KNOWN, n = strlen(name), plain = n;
    if (n > 5 && (!strcmp(name + n - 5, "_ptsz") || !strcmp(name + n - 5, "_ptds"))) plain -= 5;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int c = strncmp(name, known[mid].name, plain);
        if (!c && known[mid].name[plain]) c = -1;
        if (!c) return plain == n ? 2 * mid : !strcmp(name, known[mid].variant) ? 2 * mid + 1 : SIZE_MAX;
        if (c < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return SIZE_MAX;
}

struct front_entry *front_entry_of(uint32_t runtime, const char *name)
{
    size_t at = known_find(name);
    uint32_t release = FRONT_FIRST + runtime;
    if (at == SIZE_MAX || release < known[at / 2].first || release > known[at / 2].last) return NULL;
    if (!entries[runtime]) {
        struct front_entry *e = front_memory(sizeof *e * 2 * KNOWN);
        if (!e) return NULL;
        for (size_t i = 0; i < 2 * (size_t)KNOWN; i++)
            e[i] = (struct front_entry){ (void *)(uintptr_t)front_resolver,
                                         i % 2 ? known[i / 2].variant : known[i / 2].name, runtime };
        entries[runtime] = e;
    }
    return &entries[runtime][at];
}

void *front_own(const char *file, const char *name)
{
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    void *library = dlmopen(LM_ID_BASE, path, RTLD_NOW | RTLD_LOCAL);
    void *p = library ? dlsym(library, name) : NULL;
    if (!p) {
        const char *why = dlerror();
        front_say("lockstep: %s: %s", name, why ? why : "not found");
    }
    return p;
}

/* Several threads may make the first call at the same moment: each finds the same. */
void *front_resolve(struct front_entry *e)
{
    void *p = front_own(front_runtime_file[e->runtime], e->name);
    if (!p) _exit(127);
    __atomic_store_n(&e->target, p, __ATOMIC_RELEASE);
    return p;
}

/* ---- names of files ---- */

/* Whether `name` is `file`, or `file` with .NUMBER after it once or more often. */
static bool is_release_of(const char *name, const char *file)
{
    size_t n = strlen(file);
    if (strncmp(name, file, n)) return false;
    for (const char *p = name + n; *p;) {
        size_t digits = *p == '.' ? strspn(p + 1, "0123456789") : 0;
        if (!digits) return false;
        p += 1 + digits;
    }
    return true;
}

/* Our file for a library that is asked for; NULL: it is none of ours. */
static const char *ours(const char *name)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    for (int i = 0; i < FILES; i++)
        if (is_release_of(base, files[i].file) || (files[i].linked && !strcmp(base, files[i].linked))) {
            const char *path = answer[strcmp(files[i].file, "libcuda.so") ? i : 0];
            return *path ? path : NULL;
        }
    return NULL;
}

static void folder_find(void)
{
    Dl_info me;
    char *slash;
    if (!dladdr((void *)(uintptr_t)front_resolve, &me) || !realpath(me.dli_fname, folder) ||
        !(slash = strrchr(folder, '/'))) {
        folder[0] = 0;
        return;
    }
    *slash = 0;
    for (int i = 0; i < FILES; i++) {
        snprintf(answer[i], sizeof answer[i], "%s/%s", folder, files[i].file);
        if (access(answer[i], R_OK)) answer[i][0] = 0;
    }
}

/* Whether a file lies in our folder itself. */
static bool is_own(const char *path)
{
    size_t n = strlen(folder);
    return n && !strncmp(path, folder, n) && path[n] == '/' && !strchr(path + n + 1, '/');
}

/* ---- the program ---- */

FILE *front_maps(void)
{
    FILE *f = fopen("/proc/self/maps", "re");
    int first = f ? fgetc(f) : EOF;
    if (first != EOF) {
        ungetc(first, f);
        return f;
    }
    if (f) fclose(f);
    return fopen("/proc/thread-self/maps", "re");
}

/* The file that is mapped at an address, by the kernel's list. The loader gives the program no name, and /proc/self/exe
 * is the loader when a program is started as `ld.so ./program`. */
static const char *mapped_file(uintptr_t inside)
{
    static char line[PATH_BYTES + 256];
    FILE *f = front_maps();
    const char *found = "/proc/self/exe";
    while (f && fgets(line, sizeof line, f)) {
        unsigned long a, b;
        int at = 0;
        if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &a, &b, &at) != 2 || inside < a || inside >= b) continue;
        line[strcspn(line, "\n")] = 0;
        if (line[at] == '/' && !strstr(line + at, " (deleted)")) found = line + at;
        break;
    }
    if (f) fclose(f);
    return found;
}

/* ---- rtld-audit(7) ---- */

PUBLIC unsigned la_version(unsigned version)
{
    const char *log = getenv("LOCKSTEP_LOG"), *only = getenv("LOCKSTEP_RUN_PID");
    if (only && atol(only) != (long)getpid()) return 0; /* --target-processes application-only: the module goes again */
    verbose = log && strstr(log, "front");
    folder_find();
    front_channel_begin();
    front_exec_begin();
    return version; /* the loader's own: that of arm64 accepts no other, and the fields used here agree in all versions
                     */
}

/* Our own libraries may ask for the real driver, and the engine for NVIDIA's libraries. */
PUBLIC char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    const char *mine = flag == LA_SER_ORIG && *cookie != OWN && *cookie != ENGINE ? ours(name) : NULL;
    if (mine && verbose && strcmp(mine, name)) front_say("lockstep: front: %s -> %s", name, mine);
    return (char *)(uintptr_t)(mine ? mine : name);
}

static struct link_map *program; /* the first object of the program's namespace */

static bool is_libc(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && !strcmp(slash, "/libc.so.6");
}

/* Libraries beside libc that have clocks (front_clock.c). */
static bool has_clock(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && (!strncmp(slash, "/libstdc++.so.", 14) || !strncmp(slash, "/libgomp.so.", 12));
}

static bool is_engine(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && !strncmp(slash, "/liblockstep.so", 15);
}

PUBLIC unsigned la_objclose(uintptr_t *cookie)
{
    if (*cookie == ENGINE) front_signal_engine(NULL, 0);
    return 0;
}

/* Calls through the object's table stay direct, except that it may start programs, set handlers, leave
 * or read clocks. */
PUBLIC unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
    const char *path = map->l_name && *map->l_name ? map->l_name : mapped_file((uintptr_t)map->l_ld);
    if (namespace == LM_ID_BASE && !program) program = map;
    if (is_own(path))
        *cookie = OWN;
    else if (namespace == LM_ID_BASE && is_engine(path)) {
        *cookie = ENGINE;
        front_channel_engine(map->l_name, map->l_addr);
        front_signal_engine(map->l_name, map->l_addr);
    } else if (namespace == LM_ID_BASE && strchr(path, '/')) { /* the kernel's own object has no file */
        bool starts = front_object(path, map->l_addr, verbose);
        if (has_clock(path)) *cookie = CLOCKS;
        if (front_producer_file(path)) front_object_exports(path, map->l_addr, verbose);
        return (is_libc(path) || has_clock(path) ? LA_FLG_BINDTO : 0u) |
               (starts && !is_libc(path) ? LA_FLG_BINDFROM : 0u);
    }
    return 0;
}

PUBLIC uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags,
                              const char *name)
{
    (void)index, (void)to;
    *flags |= LA_SYMB_NOPLTENTER | LA_SYMB_NOPLTEXIT;
    uintptr_t own = front_exec_of(name);
    if (!own) own = front_signal_of(name);
    if (!own && *from != CLOCKS) own = front_clock_of(name, symbol->st_value); /* its own clocks are made of others */
    return own ? own : symbol->st_value;
}

/* All objects of the start are there, and none of their code has run. */
PUBLIC void la_preinit(uintptr_t *cookie)
{
    (void)cookie;
    front_exec_ready(program);
    front_signal_ready(program);
}
