/* lockstep run --time: how long launches and copies took, and in which ranges of NVTX, at the end of the program.
 *
 * The times are those of lk_options.time. NVTX calls a library that NVTX_INJECTION64_PATH names, which the launcher
 * sets to this one: its ranges become those of lk_range_push. The shapes are those of NVTX's header nvtxTypes.h. */
#include "engine/cu_time.h"
#include <stdint.h>

static bool wanted;

bool cu_time_option(const char *key, lk_options *o)
{
    if (strcmp(key, "time")) return false;
    wanted = true;
    o->time = 1;
    return true;
}

void cu_time_text(lk_gpu *gpu, struct text *out)
{
    char *text = wanted ? lk_time_text(gpu) : NULL;
    if (text) text_add(out, "%s", text);
    lk_text_free(text);
}

/* ---- NVTX ---- */

enum { EXPORTS_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { RANGE_PUSH_EX = 8, RANGE_PUSH_A = 9, RANGE_PUSH_W = 10, RANGE_POP = 11 }; /* of MODULE_CORE */
enum {
    DOMAIN_RANGE_PUSH_EX = 4,
    DOMAIN_RANGE_POP = 5,
    DOMAIN_STRING_A = 10,
    DOMAIN_CREATE_A = 12
}; /* of MODULE_CORE2 */
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };

struct attributes { /* nvtxEventAttributes_t */
    u16 version, size;
    u32 category;
    int color_type;
    u32 color;
    int payload_type, reserved;
    u64 payload;
    int message_type;
    const void *message;
};
typedef void (*any_function)(void);
struct callbacks { /* NvtxExportTableCallbacks */
    size_t size;
    int (*table)(int module, any_function ***out, unsigned *n);
};

static void wide_text(const int32_t *from, char *out, size_t size)
{
    size_t n = 0;
    for (; from && *from && n + 1 < size; from++) out[n++] = *from < 127 && *from > 31 ? (char)*from : '?';
    out[n] = 0;
}

static int push(const char *name)
{
    lk_range_push(name);
    return 0;
}

static int push_wide(const int32_t *name)
{
    char text[128];
    wide_text(name, text, sizeof text);
    return push(text);
}

static int push_attributes(const struct attributes *a)
{
    if (!a || a->message_type == MESSAGE_WIDE) return push_wide(a ? a->message : NULL);
    bool text = a->message_type == MESSAGE_ASCII || a->message_type == MESSAGE_REGISTERED;
    return push(text && a->message ? a->message : "range");
}

static int domain_push(void *domain, const struct attributes *a)
{
    (void)domain;
    return push_attributes(a);
}

static int pop(void)
{
    lk_range_pop();
    return 0;
}

/* Strings that are registered, and domains, are known by a copy of their text, which lives for ever. */
static const char *kept(const char *text)
{
    static struct arena mem;
    static lock_t guard = LOCK_INIT;
    lock(&guard);
    const char *copy = arena_str(&mem, str_of(text ? text : "range"));
    unlock(&guard);
    return copy;
}

static const char *domain_string(void *domain, const char *text)
{
    (void)domain;
    return kept(text);
}

static int domain_pop(void *domain)
{
    (void)domain;
    return pop();
}

static void set(any_function **table, unsigned n, unsigned at, any_function f)
{
    if (at < n && table[at]) *table[at] = f;
}

/* Called by NVTX in the program, when it is used first. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*exports)(u32 which));
int InitializeInjectionNvtx2(const void *(*exports)(u32 which))
{
    const struct callbacks *c = exports(EXPORTS_CALLBACKS);
    any_function **core = NULL, **more = NULL;
    unsigned n = 0, m = 0;
    if (!c || !c->table(MODULE_CORE, &core, &n)) return 0;
    set(core, n, RANGE_PUSH_EX, (any_function)push_attributes);
    set(core, n, RANGE_PUSH_A, (any_function)push);
    set(core, n, RANGE_PUSH_W, (any_function)push_wide);
    set(core, n, RANGE_POP, (any_function)pop);
    if (!c->table(MODULE_CORE2, &more, &m)) return 1;
    set(more, m, DOMAIN_RANGE_PUSH_EX, (any_function)domain_push);
    set(more, m, DOMAIN_RANGE_POP, (any_function)domain_pop);
    set(more, m, DOMAIN_STRING_A, (any_function)domain_string);
    set(more, m, DOMAIN_CREATE_A, (any_function)kept);
    return 1;
}
