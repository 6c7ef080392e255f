/* The files that the process has mapped as code. */
#include "sites/where.h"
#include "base/mapping.h"
#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

enum { MODULES_MOST = 4096 };
struct module {
    u64 low, high; /* of its code */
    u64 bias;      /* what is added to the addresses of the file */
    char *path;
};
struct modules {
    u32 n;
    u64 adds, subs; /* of the loader, when the list was made */
    struct module m[MODULES_MOST];
};
static struct modules *now; /* atomic; those before it are kept: somebody may be reading them */
static lock_t guard = LOCK_INIT;

static const struct modules *modules(void) { return __atomic_load_n(&now, __ATOMIC_ACQUIRE); }

const void *where_modules_list(void) { return modules(); }

static int module_add(struct dl_phdr_info *x, size_t bytes, void *self)
{
    struct modules *l = self;
    char exe[4096] = "";
    const char *path = x->dlpi_name;
    (void)bytes;
    l->adds = x->dlpi_adds;
    l->subs = x->dlpi_subs;
    if (!path || !path[0]) { /* the program itself, which comes first; the vdso has no file */
        ssize_t k = l->n ? -1 : readlink(mapping_exe(), exe, sizeof exe - 1);
        path = k > 0 ? exe : "";
    }
    for (u32 i = 0; i < x->dlpi_phnum && l->n < MODULES_MOST; i++) {
        const ElfW(Phdr) *p = &x->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X)) continue;
        char *copy = base_need(strlen(path) + 1);
        memcpy(copy, path, strlen(path) + 1);
        l->m[l->n++] = (struct module){ .low = x->dlpi_addr + p->p_vaddr,
                                        .high = x->dlpi_addr + p->p_vaddr + p->p_memsz,
                                        .bias = x->dlpi_addr,
                                        .path = copy };
    }
    return 0;
}

static int by_address(const void *a, const void *b)
{
    const struct module *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

struct counters {
    u64 adds, subs;
};
static int counters_take(struct dl_phdr_info *x, size_t bytes, void *self)
{
    (void)bytes;
    *(struct counters *)self = (struct counters){ x->dlpi_adds, x->dlpi_subs };
    return 1;
}

u64 where_modules_changes(void)
{
    struct counters c = { 0, 0 };
    dl_iterate_phdr(counters_take, &c);
    return c.adds + c.subs;
}

static void list_send(const struct modules *l)
{
    where_send("modules\n");
    for (u32 i = 0; l && i < l->n; i++)
        if (l->m[i].path[0])
            where_send("module %" PRIx64 " %" PRIx64 " %" PRIx64 " %s\n", l->m[i].low, l->m[i].high, l->m[i].bias,
                       l->m[i].path);
}

void modules_hold(bool held)
{
    if (held)
        lock(&guard);
    else
        unlock(&guard);
}

void where_modules_send(void) { list_send(modules()); }

void where_modules_look(void)
{
    struct counters c = { 0, 0 };
    dl_iterate_phdr(counters_take, &c);
    lock(&guard);
    if (!now || now->adds != c.adds || now->subs != c.subs) {
        struct modules *l = base_need(sizeof *l); /* pages that are not used cost nothing */
        dl_iterate_phdr(module_add, l);
        qsort(l->m, l->n, sizeof *l->m, by_address);
        __atomic_store_n(&now, l, __ATOMIC_RELEASE);
        list_send(l);
    }
    unlock(&guard);
}

static const struct module *module_at(u64 address)
{
    const struct modules *l = modules();
    u32 low = 0, high = l ? l->n : 0;
    while (low < high) {
        u32 mid = (low + high) / 2;
        if (address < l->m[mid].low)
            high = mid;
        else if (address >= l->m[mid].high)
            low = mid + 1;
        else
            return &l->m[mid];
    }
    return NULL;
}

bool where_is_code(u64 address) { return module_at(address) != NULL; }

bool where_same_file(u64 a, u64 b)
{
    const struct module *x = module_at(a), *y = module_at(b);
    return x && y && x->bias == y->bias;
}

void where_plain(u64 address, struct text *out)
{
    const struct module *m = module_at(address);
    const char *path = m ? m->path : "", *slash = strrchr(path, '/');
    Dl_info info;
    if (where_script_text(address, out)) return;
    if (m)
        text_add(out, "%s+0x%" PRIx64, slash ? slash + 1 : path, address - m->bias);
    else
        text_add(out, "0x%" PRIx64, address);
    if (dladdr((void *)(uintptr_t)(address - 1), &info) && info.dli_sname) text_add(out, " (%s)", info.dli_sname);
}
