/* The cache of compiled kernels: a store (base/store.h) whose contents are a head of lines, the compiler's warnings and
 * the PTX. */
#include "compile/compile.h"
#include "base/store.h"
#include <stdlib.h>

bool cache_folder(char *out, size_t size) { return store_folder(NULL, out, size); }

bool cache_limit_read(u64 *limit, struct error *e) { return environment_cache_size(limit, e); }

u64 cache_limit(void)
{
    struct error e = { 0 };
    u64 limit;
    cache_limit_read(&limit, &e);
    return limit;
}

/* The store as it is now: tests change the environment. */
struct cache_place {
    char folder[STORE_PATH];
    struct store store;
};
static const struct store *open_store(struct cache_place *p)
{
    p->store = (struct store){ .ending = ".ptx", .magic = "// lockstep cache 4\n", .limit = cache_limit() };
    if (cache_folder(p->folder, sizeof p->folder)) p->store.folder = p->folder;
    return &p->store;
}

/* The value of the line "// WORD: value" of the head; n = 0: none. */
static struct str head_line(struct str head, const char *word)
{
    char find[64];
    size_t n = (size_t)snprintf(find, sizeof find, "// %s: ", word);
    for (const char *p = head.p, *end = head.p + head.n; (size_t)(end - p) > n;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        if (!memcmp(p, find, n)) return (struct str){ p + n, (u32)((stop ? stop : end) - p - (s64)n) };
        if (!stop) break;
        p = stop + 1;
    }
    return (struct str){ NULL, 0 };
}

/* Cuts contents into head, what the compiler said, and PTX. */
static bool open_entry(struct str all, struct str *head, struct str *log, struct str *ptx)
{
    static const char mark[] = "\n// ptx:\n";
    const char *body = strstr(all.p, mark);
    if (!body) return false;
    *head = (struct str){ all.p, (u32)(body + 1 - all.p) };
    body += sizeof mark - 1;
    struct str said = head_line(*head, "log bytes");
    u64 bytes = said.n ? strtoull(said.p, NULL, 10) : 0, rest = (u64)(all.p + all.n - body);
    if (bytes > rest) return false;
    *log = (struct str){ body, (u32)bytes };
    *ptx = (struct str){ body + bytes, (u32)(rest - bytes) };
    return true;
}

static void copy_line(struct str from, char *out, size_t size)
{
    snprintf(out, size, "%.*s", (int)MIN_OF(from.n, 4096u), from.p ? from.p : "");
}

/* Instance i of an entry and what it is called in the PTX; false: there are no more. */
static bool instance_at(struct arena *a, struct str head, u32 i, const char **name, char **lowered)
{
    char word[32];
    snprintf(word, sizeof word, "instance %u", i);
    struct str is = head_line(head, word);
    snprintf(word, sizeof word, "lowered %u", i);
    struct str in_ptx = head_line(head, word);
    if (!is.n || !in_ptx.n) return false;
    *name = arena_str(a, is);
    *lowered = arena_str(a, in_ptx);
    return true;
}

static bool same_but_blanks(const char *a, const char *b)
{
    while (*(a += strspn(a, " ")) == *(b += strspn(b, " ")) && *a) a++, b++;
    return !*a && !*b;
}

/* The names that are asked for: each instance is one of the entry's, or a kernel of its PTX. false: one is neither. */
static bool find_names(struct str head, struct str ptx, const struct compile_options *o, struct compile_result *r)
{
    VEC(char *) hidden = { 0 };
    const char *name;
    char *lowered, **own = NEW_ARRAY(&r->mem, char *, o->names + 1);
    for (u32 k = 0; instance_at(&r->mem, head, k, &name, &lowered); k++) {
        bool asked = false;
        for (u32 i = 0; i < o->names; i++) {
            const char *instance = compile_instance(&r->mem, o->name[i]);
            if (!instance || !same_but_blanks(instance, name)) continue;
            own[i] = lowered;
            asked = true;
        }
        if (!asked) VEC_PUSH(&r->mem, &hidden, lowered);
    }
    for (u32 i = 0; i < o->names; i++) {
        if (!own[i] && compile_instance(&r->mem, o->name[i]) && !(own[i] = compile_entry(&r->mem, ptx, o->name[i])))
            return false;
        for (u32 k = 0; own[i] && k < hidden.n; k++) /* by another spelling */
            if (!strcmp(hidden.p[k], own[i])) hidden.p[k--] = hidden.p[--hidden.n];
    }
    VEC_PUSH(&r->mem, &hidden, NULL);
    r->lowered = own;
    r->hidden = hidden.p;
    return true;
}

bool cache_take(const char *key, const struct compile_options *o, struct compile_result *r)
{
    struct cache_place p;
    struct str head, log, ptx;
    struct taken t;
    if (!store_take(open_store(&p), key, &t)) return false;
    char *copy = NULL;
    bool whole = open_entry(t.text, &head, &log, &ptx);
    if (whole && find_names(head, ptx, o, r) && (copy = base_alloc((size_t)ptx.n + 1))) {
        memcpy(copy, ptx.p, ptx.n);
        r->ptx = (struct str){ copy, ptx.n };
        text_put(&r->log, log.p, log.n);
        copy_line(head_line(head, "by"), r->by, sizeof r->by);
        copy_line(head_line(head, "arch"), r->arch, sizeof r->arch);
    } else if (!whole) {
        store_remove(&p.store, key);
    }
    store_release(&t);
    return copy != NULL;
}

void cache_instances(struct arena *a, const char *key, word_list *out)
{
    struct cache_place p;
    struct taken t;
    struct str head, log, ptx;
    const char *name;
    char *lowered;
    if (!store_take(open_store(&p), key, &t)) return;
    bool whole = open_entry(t.text, &head, &log, &ptx);
    for (u32 i = 0; whole && instance_at(a, head, i, &name, &lowered); i++) VEC_PUSH(a, out, name);
    store_release(&t);
}

/* What an entry says of itself, from its first bytes. */
static void describe(const struct store *s, struct cache_entry *e)
{
    char head[1024];
    struct str h = { head, store_peek(s, e->key, head, sizeof head) };
    copy_line(head_line(h, "source"), e->source, sizeof e->source);
    copy_line(head_line(h, "by"), e->by, sizeof e->by);
    copy_line(head_line(h, "arch"), e->arch, sizeof e->arch);
}

u32 cache_list(struct arena *a, struct cache_entry **out)
{
    struct cache_place p;
    struct store_entry *e;
    u32 n = store_list(open_store(&p), a, false, &e);
    p.store.limit = MAX_OF(p.store.limit, (u64)1); /* existing entries are shown, even if the cache is switched off */
    *out = n ? NEW_ARRAY(a, struct cache_entry, n) : NULL;
    for (u32 i = 0; i < n; i++) {
        struct cache_entry *x = &(*out)[i];
        memcpy(x->key, e[i].key, sizeof x->key);
        x->bytes = e[i].bytes;
        x->used = e[i].used;
        describe(&p.store, x);
    }
    return n;
}

u32 cache_clear(void)
{
    struct cache_place p;
    return store_clear(open_store(&p));
}

void cache_keep(const char *key, const char *path, const struct compile_options *o, const struct compile_result *r)
{
    struct cache_place p;
    if (!open_store(&p)->limit || strchr(path, '\n')) return;
    struct text body = { 0 };
    text_add(&body, "// source: %.255s\n// arch: %s\n// by: %s\n", path, r->arch, r->by);
    struct arena a = { 0 };
    for (u32 i = 0, n = 0; i < o->names; i++) {
        const char *instance = r->lowered[i] ? compile_instance(&a, o->name[i]) : NULL;
        if (instance) text_add(&body, "// instance %u: %s\n// lowered %u: %s\n", n, instance, n, r->lowered[i]);
        n += instance != NULL;
    }
    arena_free(&a);
    text_add(&body, "// log bytes: %zu\n// ptx:\n", r->log.n);
    text_put(&body, r->log.p, r->log.n);
    text_put(&body, r->ptx.p, r->ptx.n);
    store_keep(&p.store, key, body.p, body.n);
    text_free(&body);
}
