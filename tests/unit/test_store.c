/* A store of contents by the hash of what decides them (base/store.h). */
#include "base/store.h"
#include "unit.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[512];
static struct store store = { .folder = folder, .ending = ".out", .magic = "// test 1\n", .limit = 1 << 20 };

static void key_of(u32 n, char key[HASH_HEX])
{
    struct hash h;
    hash_begin(&h);
    hash_add(&h, &n, sizeof n);
    hash_end(&h, key);
}

static bool has(const char *key, struct str want)
{
    struct taken t;
    if (!store_take(&store, key, &t)) return false;
    bool same = str_eq(t.text, want) && !t.text.p[t.text.n];
    store_release(&t);
    return same;
}

static void path_of(const char *key, char *out, size_t size) { snprintf(out, size, "%s/%s.out", folder, key); }

static void kept(void)
{
    char key[HASH_HEX], other[HASH_HEX], head[8];
    key_of(1, key);
    key_of(2, other);
    UNIT(!has(key, STR("abc")));
    store_keep(&store, key, "abc\0def", 7);
    UNIT(has(key, STR("abc\0def")));
    UNIT(!has(other, STR("abc\0def")));
    UNIT_EQ(store_peek(&store, key, head, sizeof head), 7);
    UNIT_EQ_STR(head, "abc");
    UNIT_EQ(store_peek(&store, other, head, sizeof head), 0);
    store_keep(&store, key, "", 0);
    UNIT(has(key, STR("")));
    store_keep(&store, "../../x", "a", 1); /* no key */
    UNIT(!has("../../x", STR("a")));
    struct arena a = { 0 };
    struct store_entry *e;
    UNIT_EQ(store_list(&store, &a, false, &e), 1);
    UNIT_EQ_STR(e[0].key, key);
    UNIT(store_remove(&store, key) && !store_remove(&store, key));
    UNIT_EQ(store_list(&store, &a, false, &e), 0);
    arena_free(&a);
}

/* A file that was changed, cut short, of another format, or is none: not taken, and made again. */
static void damaged(void)
{
    char key[HASH_HEX], path[700];
    struct error e = { 0 };
    struct str all;
    key_of(3, key);
    path_of(key, path, sizeof path);
    for (u32 i = 0; i < 60; i++) {
        store_keep(&store, key, "some contents", 13);
        if (!UNIT(file_read(path, &all, &e))) return;
        char *p = (char *)(uintptr_t)all.p;
        u32 at = i * all.n / 60;
        if (i & 1) p[at] ^= 1;
        UNIT(file_write(path, p, i & 1 ? all.n : at, &e));
        base_free(p);
        UNIT(!has(key, STR("some contents")));
        UNIT(!file_exists(path));
    }
    UNIT(!mkfifo(path, 0600));
    UNIT(!has(key, STR("some contents")));
    store_keep(&store, key, "again", 5);
    UNIT(has(key, STR("again")));
    struct store newer = store;
    newer.magic = "// test 2\n";
    struct taken t;
    UNIT(!store_take(&newer, key, &t));
}

static void bounded(void)
{
    char key[HASH_HEX], first[HASH_HEX], path[700];
    static char body[1000];
    struct store small = store;
    small.limit = 10000;
    store_clear(&store);
    for (u32 i = 0; i < 30; i++) {
        key_of(100 + i, key);
        if (!i) memcpy(first, key, sizeof first);
        store_keep(&small, key, body, sizeof body);
        /* dates a second apart, the oldest first; the first one is used again and again */
        path_of(key, path, sizeof path);
        struct timespec t[2] = { { .tv_sec = 1000 + i }, { .tv_sec = 1000 + i } };
        utimensat(0, path, t, 0);
        if (i) has(first, STR(""));
    }
    struct arena a = { 0 };
    struct store_entry *e;
    u32 n = store_list(&small, &a, false, &e);
    u64 total = 0;
    bool there = false;
    for (u32 i = 0; i < n; i++) {
        total += e[i].bytes;
        there |= !strcmp(e[i].key, first);
    }
    UNIT(n >= 8 && total <= small.limit);
    UNIT(there);
    small.limit = 0;
    struct taken t;
    UNIT(!store_take(&small, first, &t));
    store_keep(&small, first, "x", 1);
    UNIT_EQ(store_clear(&small), n);
    arena_free(&a);
}

int main(void)
{
    char top[400], in[STORE_PATH];
    snprintf(top, sizeof top, "/tmp/lockstep-store-%d", (int)getpid());
    setenv("XDG_CACHE_HOME", top, 1);
    UNIT(store_folder("tests", in, sizeof in));
    UNIT_HAS(in, "/lockstep/tests");
    snprintf(folder, sizeof folder, "%.500s", in);
    kept();
    damaged();
    bounded();
    folder_remove(top);
    setenv("XDG_CACHE_HOME", "relative", 1);
    unsetenv("HOME");
    UNIT(!store_folder(NULL, in, sizeof in));
    return unit_done();
}
