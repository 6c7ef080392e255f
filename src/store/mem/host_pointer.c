/* Pointers of the host that a kernel was given: what memory they lead to, and which variable of the host holds them.
 *
 * The variable is asked for in the launch, while the host's stack is as it was; the access that goes wrong comes later
 * and in another thread. So the last POINTERS of them are kept here, with what is known. */
#include "mem/host_pointer.h"
#include "mem/zone.h"
#include "base/demangle.h"

enum { POINTERS = 64 };
static struct {
    lock_t lock;
    struct host_pointer kept[POINTERS];
    u32 n; /* noted so far */
} t = { .lock = LOCK_INIT };

static const char *(*name_maker)(u64 pointer, bool *stack); /* of host_pointer_from */
void host_pointer_from(const char *(*maker)(u64 pointer, bool *stack))
{
    __atomic_store_n(&name_maker, maker, __ATOMIC_RELEASE);
}

static bool find(u64 pointer, struct host_pointer *out)
{
    bool found = false;
    lock(&t.lock);
    for (u32 i = 0; !found && i < MIN_OF(t.n, (u32)POINTERS); i++)
        if (t.kept[i].pointer == pointer) *out = t.kept[i], found = true;
    unlock(&t.lock);
    return found;
}

static bool in_arena(const struct mem *m, u64 address) { return m && address - m->base < m->bytes; }

bool host_pointer_look(const struct mem *m, u64 pointer, struct host_pointer *out)
{
    if (in_arena(m, pointer)) return false;
    if (find(pointer, out)) return true;
    *out = (struct host_pointer){ .pointer = pointer };
    if (!(out->memory = process_memory_at(pointer, out->file, sizeof out->file))) return false;
    const char *(*maker)(u64, bool *) = __atomic_load_n(&name_maker, __ATOMIC_ACQUIRE);
    bool stack = false;
    out->name = maker ? maker(pointer, &stack) : NULL;
    if (stack) out->memory = PROCESS_STACK; /* of whichever thread */
    lock(&t.lock);
    t.kept[t.n++ % POINTERS] = *out;
    unlock(&t.lock);
    return true;
}

bool host_pointer_find(const struct mem *m, u64 address, u64 pointer, struct host_pointer *out)
{
    if (in_arena(m, address)) return false;
    if (pointer && find(pointer, out)) return true;
    *out = (struct host_pointer){ .pointer = address };
    return (out->memory = process_memory_at(address, out->file, sizeof out->file)) != PROCESS_NOTHING;
}

void host_pointer_text(const struct host_pointer *p, char *out, size_t size)
{
    const char *name = p->name ? p->name : "";
    switch (p->memory) {
    case PROCESS_STACK: snprintf(out, size, "the stack%s", name); break;
    case PROCESS_FILE: snprintf(out, size, "the variables of %s%s", p->file, name); break;
    default: snprintf(out, size, "memory of malloc, new or mmap%s", name);
    }
}

/* ---- shadows of device variables ---- */

static struct shadow_variable {
    u64 host, bytes;
    const char *name;
    struct shadow_variable *next;
} * shadows; /* guarded by t.lock */

void host_shadow_add(u64 host, u64 bytes, const char *name)
{
    struct shadow_variable *v = base_alloc(sizeof *v);
    if (!v) return;
    lock(&t.lock);
    *v = (struct shadow_variable){ host, bytes, name, shadows };
    shadows = v;
    unlock(&t.lock);
}

bool host_shadow_name(u64 address, char *name, size_t n)
{
    lock(&t.lock);
    const struct shadow_variable *v = shadows;
    while (v && address - v->host >= v->bytes) v = v->next;
    unlock(&t.lock);
    if (!v) return false;
    struct arena mem = { 0 };
    struct demangled d;
    bool mangled = !strncmp(v->name, "_Z", 2) && demangle(&mem, str_of(v->name), &d);
    snprintf(name, n, "%s", mangled ? d.plain : v->name);
    arena_free(&mem);
    return true;
}

bool host_shadow_fix(u64 address, char *fix, size_t n)
{
    char name[100];
    if (!host_shadow_name(address, name, sizeof name)) return false;
    snprintf(fix, n,
             "In host code the name of the __device__ variable %s means the host's shadow of it. Ask for the address "
             "with cudaGetSymbolAddress((void **)&p, %s), and pass p; or let the kernel use %s by its name.",
             name, name, name);
    return true;
}
