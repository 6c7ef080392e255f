/* store.h: a folder of files named by the hash of everything that decides their contents, for what is dear to make and
 * may be lost: compiled kernels, results of analyses and measurements.
 *
 * A file has a line that says what it is (`magic`), one with the hash of all that follows, and its contents: one that
 * was cut short or changed is recognised, removed and made again. Files are written beside and renamed (file_write), so
 * any number of processes may share the folder; nobody locks. A hit moves the file's date to now; when the files
 * outgrow the limit, the oldest dates go first. Losing a file at any moment costs making it again, and nothing else. */
#ifndef LOCKSTEP_STORE_H
#define LOCKSTEP_STORE_H
#include "base/base.h"

enum { STORE_PATH = 3072 }; /* bytes of a folder's path, at most */
struct store {
    const char *folder; /* whose name, made where it is missing; NULL: nothing is kept */
    const char *ending; /* of its files: ".ptx" */
    const char *magic;  /* their first line, with its end; another one when the format changes */
    u64 limit;          /* bytes of all files together; 0: nothing is kept, and nothing found */
};
struct store_entry {
    char key[HASH_HEX];
    u64 bytes; /* of the file */
    s64 used;  /* seconds since 1970, when it was last taken or made */
};
/* The folder that everything kept lies in, of this user: $XDG_CACHE_HOME/lockstep or ~/.cache/lockstep, or a folder of
 * that name below it (NULL: itself). false: there is none. */
bool store_folder(const char *name, char *out, size_t size);

/* The contents under this key, terminated, until store_release; false: there are none that are whole. */
struct taken {
    struct str text; /* the contents */
    void *file;      /* the store's own */
};
bool store_take(const struct store *s, const char *key, struct taken *out);
void store_release(struct taken *t);
/* The first bytes of the contents, unchecked and terminated; 0: there are none. */
u32 store_peek(const struct store *s, const char *key, char *out, u32 size);
/* Keeps contents under a key, unless that fails: a full disk costs making them again, no more. */
void store_keep(const struct store *s, const char *key, const void *p, size_t n);
bool store_remove(const struct store *s, const char *key);
/* All files, the most recently used first; what processes that died while writing have left behind goes. everything:
 * other files with the ending, which older versions made, go too. */
u32 store_list(const struct store *s, struct arena *a, bool everything, struct store_entry **out);
u32 store_clear(const struct store *s); /* removes everything; the number of files */
#endif
