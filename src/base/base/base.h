/* base: all the operating system and C library that the other layers see.
 *
 * Memory comes from arenas by lifetime: a module, a launch, a report, a scratch pad. Nothing in an arena is freed
 * alone. What a user can make large (a device allocation, a file) goes through base_alloc, which may fail and says
 * so. Errors travel in a `struct error *`, the last argument; the first error wins. A bug of ours is CHECK, on in
 * every build. */
#ifndef LOCKSTEP_BASE_H
#define LOCKSTEP_BASE_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))
#define MAX_OF(a, b) ((a) > (b) ? (a) : (b))

/* EACH_SET(i, mask): each bit of 32 that is set, from the lowest on: i is its number. The mask is evaluated once.
 * EACH_SET64: of 64. */
#define EACH_SET(i, mask) \
    for (u32 i##_left = (mask), i = 0; i##_left && (i = (u32)__builtin_ctz(i##_left), true); i##_left &= i##_left - 1)
#define EACH_SET64(i, mask) \
    for (u64 i##_left = (mask), i = 0; i##_left && (i = (u64)__builtin_ctzll(i##_left), true); i##_left &= i##_left - 1)

/* CHECK(condition): what can only fail through a bug of ours. On in release builds. */
#define CHECK(c)                                              \
    do {                                                      \
        if (unlikely(!(c))) base_bug(__FILE__, __LINE__, #c); \
    } while (0)
_Noreturn void base_bug(const char *file, int line, const char *what);

/* ---- text ---- */
struct str {
    const char *p;
    u32 n;
}; /* a piece of text, not terminated */
#define STR(lit) ((struct str){ lit, sizeof(lit) - 1 })
static inline bool str_eq(struct str a, struct str b) { return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n)); }
static inline bool str_is(struct str a, const char *z) { return str_eq(a, (struct str){ z, (u32)strlen(z) }); }
/* Whether the text begins with one of n words. */
static inline bool begins_with(const char *text, const char *const *word, u32 n)
{
    for (u32 i = 0; i < n; i++)
        if (!strncmp(text, word[i], strlen(word[i]))) return true;
    return false;
}
/* Whether it ends with `end`; the two may be equal. */
static inline bool str_ends(struct str s, const char *end)
{
    size_t n = strlen(end);
    return s.n >= n && !memcmp(s.p + s.n - n, end, n);
}
/* "" or "s": 1 kernel, 2 kernels. */
static inline const char *plural(u64 n) { return n == 1 ? "" : "s"; }
struct str str_of(const char *z);
u64 str_hash(struct str s);
/* Doubles as text, the same in every locale: the process may be of a program that set one with a decimal comma.
 * double_read is strtod. */
double double_read(const char *z, char **end);
void double_digits(double x, int digits, char *out, size_t size); /* with so many: "%.*g" */
/* The shortest decimal number that reads as x, which is finite: 17 digits at most. 32 bytes are enough. */
void double_print(double x, char *out, size_t size);
/* A number as JSON writes them, all of s: -1.5e3. false: it is not one. One too large becomes infinity. */
bool double_parse(struct str s, double *out);
/* All of z as a whole number without a sign, at most `most`; false: it is not one. */
bool whole_parse(const char *z, u64 most, u64 *out);
/* characters to insert, delete or replace; only the first 63 of each count */
u32 str_distance(const char *a, const char *b);
/* The nearest of n words to `word`, or NULL if none is near; the same as text, "; did you mean `normal`?", or "". */
const char *str_nearest(struct str word, const char *const *words, u32 n);
struct arena;
const char *str_hint(struct arena *mem, struct str word, const char *const *words, u32 n);

/* ---- arenas ---- */
struct arena_block;
struct arena {
    struct arena_block *head;
    size_t used, total;
}; /* {0} is an empty arena */
/* zeroed; never NULL (the process ends with one line when memory is gone) */
void *arena_alloc(struct arena *a, size_t bytes, size_t align);
char *arena_str(struct arena *a, struct str s); /* terminated copy */
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
void arena_free(struct arena *a); /* everything at once; the arena is empty again */
/* the same, but one block of at most `most` bytes stays for what comes next */
void arena_reset(struct arena *a, size_t most);
#define NEW(a, T) ((T *)arena_alloc((a), sizeof(T), _Alignof(T)))
#define NEW_ARRAY(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n), _Alignof(T)))

/* ---- growable text, for reports and printers ---- */
struct text {
    char *p;
    size_t n, cap;
}; /* {0} is empty; always terminated once something was added */
void text_add(struct text *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
void text_put(struct text *t, const char *p, size_t n);
/* as a JSON string with its quotes; bytes that are no UTF-8 become U+FFFD */
void text_json(struct text *t, const char *z);
void text_free(struct text *t);
/* Bytes of the UTF-8 character at z, of which `most` may be read, and the character; 0: there is none. */
u32 utf8_read(const char *z, size_t most, u32 *code);

/* ---- vectors: struct { T *p; u32 n, cap; } grown in an arena (old storage is left behind) ---- */
#define VEC(T)      \
    struct {        \
        T *p;       \
        u32 n, cap; \
    }
#define VEC_PUSH(ar, v, x)                                                                             \
    do {                                                                                               \
        if ((v)->n == (v)->cap)                                                                        \
            (v)->p = vec_grow((ar), (v)->p, &(v)->cap, sizeof *(v)->p, _Alignof(__typeof__(*(v)->p))); \
        (v)->p[(v)->n++] = (x);                                                                        \
    } while (0)
void *vec_grow(struct arena *a, void *p, u32 *cap, size_t size, size_t align);

/* ---- map from text to a pointer, in an arena; insertion order is kept by the caller ---- */
struct map {
    struct map_slot *slot;
    u32 n, cap;
};                                                  /* {0} is empty; keys are not copied, values are not NULL */
void *map_get(const struct map *m, struct str key); /* NULL: not there */
void map_put(struct arena *a, struct map *m, struct str key, void *value); /* replaces */

/* ---- names for contents (BLAKE2b) ---- */
enum { HASH_BYTES = 16, HASH_HEX = 2 * HASH_BYTES + 1 };
struct hash {
    u64 state[8];
    u8 pending[128];
    u32 used;  /* a block that is not full yet */
    u64 bytes; /* before it */
};
void hash_begin(struct hash *h);
void hash_add(struct hash *h, const void *data, size_t n);
void hash_add_text(struct hash *h, const char *s); /* with its end, so that "ab", "c" and "a", "bc" differ */
void hash_end(struct hash *h, char hex[HASH_HEX]);

/* ---- errors: bad input or environment ---- */
enum error_code {
    ERR_NONE,
    ERR_INPUT = 2,
    ERR_UNSUPPORTED = 3,
    ERR_NOTHING = 4,
    ERR_MEMORY = 5,
    ERR_SYSTEM = 6,
    ERR_STOPPED = 7
};
struct error {
    enum error_code code; /* ERR_NONE: no error yet */
    u32 cuda;             /* the number that CUDA's driver has for it; 0: what `code` stands for */
    char where[256];      /* "file:line:col" or "" */
    char text[512];       /* one sentence: what is wrong and the way out */
    char excerpt[400];    /* the source line and a caret under it, two lines, or "" */
};
/* No error, without clearing all of the texts. */
static inline void error_none(struct error *e)
{
    e->code = ERR_NONE;
    e->cuda = 0;
    e->where[0] = e->text[0] = e->excerpt[0] = 0;
}
/* Records the first error only. Returns false, so that `return error_set(...)` reads well. */
bool error_set(struct error *e, enum error_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The same with a place in a text: computes line and column of `at` inside `all` and copies the line with a caret. */
bool error_at(struct error *e, enum error_code code, const char *file, struct str all, const char *at, const char *fmt,
              ...) PRINTF_LIKE(6, 7);
bool error_at_list(struct error *e, enum error_code code, const char *file, struct str all, const char *at,
                   const char *fmt, va_list ap) PRINTF_LIKE(6, 0);
void error_print(FILE *f, const struct error *e); /* "lockstep: where: text" and the excerpt */

/* ---- memory whose size the user decides ---- */
void *base_alloc(size_t bytes);   /* zeroed; NULL when refused */
void *base_aligned(size_t bytes); /* the same, on a boundary of 128 bytes */
void *base_realloc(void *p, size_t bytes);
void base_free(void *p);
/* Blocks of one size that one thread takes and another gives back, as those of a queue (spares.c). All zero: none. Any
 * thread may take and give. */
struct spares {
    struct spare *mine; /* for who takes */
    char apart[120];    /* on another line of the cache than what follows */
    struct spare *back; /* given back since */
    u32 n;              /* about how many of these */
};
/* NULL when refused. Always of the same size, at least a pointer's. What is in it is anything. */
void *spares_take(struct spares *s, size_t bytes);
void spares_give(struct spares *s, void *block); /* NULL: nothing */
void spares_free(struct spares *s);              /* nobody takes or gives any more */
/* Clears a struct of some hundred bytes: what compilers make of memset with a known size (rep stos) takes longer. */
void bytes_clear(void *p, size_t bytes);
/* test hook: the n-th call from now fails (0: never); returns how many were left until the one armed before: 0, it
 * failed */
long base_alloc_fail_at(long n);
bool base_alloc_refused(void); /* counts as a call: for those who get user-sized memory elsewhere (mem) */
/* What is small, or so deep inside a launch that nothing could be undone: without it the process ends with one line. */
void *base_need(size_t bytes);               /* base_alloc, never NULL */
void *base_need_more(void *p, size_t bytes); /* base_realloc, never NULL */
/* Room for one more after n in an array on the heap that has room for `cap`: twice as much, and `first` at first. */
#define NEED_ROOM(array, n, cap, first)                                 \
    do {                                                                \
        if (unlikely((n) == (cap))) {                                   \
            (cap) = (cap) ? 2 * (cap) : (first);                        \
            (array) = base_need_more((array), sizeof *(array) * (cap)); \
        }                                                               \
    } while (0)
_Noreturn void base_exhausted(size_t bytes, const char *what); /* that line; what they were for: "text", or "" */
/* as base_alloc_refused, for arenas and text: refused only after base_small_fail_at */
bool base_small_refused(void);
void base_small_fail_at(long n); /* test hook: base_alloc_fail_at, and arenas and text count too */

/* ---- files, time, processes ---- */
/* one that nobody must have: false when it cannot be read; without memory the process ends */
bool file_read_if(const char *path, struct str *out);
/* from base_alloc, terminated; release with base_free((void *)out->p) */
bool file_read(const char *path, struct str *out, struct error *e);
bool file_exists(const char *path);
/* The program of this name as a shell finds it: by PATH, unless the name has a slash. false: there is none, out is ""
 */
bool file_program(const char *name, char *out, size_t size);
bool file_is_pipe(const char *path);          /* which can be read only once */
bool file_is_regular(const char *path);       /* itself: not a link to one */
bool file_of_package(const char *path);       /* of a package of Python that was installed: its path says so */
bool file_same(const char *a, const char *b); /* both are there, and are one file, under whatever names */
/* "-": standard output; else beside, then renamed */
bool file_write(const char *path, const void *p, size_t n, struct error *e);
bool file_put(int fd, const void *p, size_t n);      /* all of it; false: errno says why not */
bool file_get(int fd, void *p, size_t n);            /* all of n bytes; false: the other end is gone */
bool folder_make(const char *path, struct error *e); /* one that is there already is fine */
void folder_remove(const char *path);                /* with all that is in it; links are not followed */
static inline u64 gcd(u64 a, u64 b)                  /* that of 0 and b is b */
{
    while (b) {
        u64 t = a % b;
        a = b;
        b = t;
    }
    return a;
}
/* Union-find: the root above k, of which all that lie on the way then know. A root is its own parent. */
static inline u32 forest_root(u32 *parent, u32 k)
{
    u32 top = k;
    while (parent[top] != top) top = parent[top];
    while (parent[k] != top) {
        u32 up = parent[k];
        parent[k] = top;
        k = up;
    }
    return top;
}
u64 time_ns(void); /* monotonic */
/* Work that may take long, and has no other way to be told, asks now and then whether it is to stop. What it has made
 * until then is not used. stop_watch: from now on the calling thread is to stop when *asked is not 0 (NULL: never), or
 * at that time_ns (0: never). */
void stop_watch(const volatile int *asked, u64 deadline);
bool stop_asked(void); /* once true, it stays so until the next stop_watch */
int cpu_count(void);   /* that this process may use */
/* Variables of the environment that are read far from whoever has set them, in a process that somebody else has
 * started: a value that cannot be used is said at the beginning. LOCKSTEP_CACHE_SIZE in bytes, or what it is without;
 * false: it is no size. */
bool environment_cache_size(u64 *bytes, struct error *e);
/* The same, and LOCKSTEP_RUN_STABLE, LOCKSTEP_PATIENCE and LOCKSTEP_LOG; false: one of them cannot be used. */
bool environment_reads(struct error *e);
s32 process_id(void); /* getpid without a system call; right after fork, too */
/* Runs argv (NULL-terminated) with both output streams captured (the first 4 MiB; output may be NULL).
 * Returns the exit status, 128 + signal, or -1 if it could not start. */
int process_run(char *const argv[], struct text *output);
/* The same with TMPDIR set for the child; NULL: as it is here. */
int process_run_in(char *const argv[], const char *tmpdir, struct text *output);
/* The same; a child that has not ended at `until` (time_ns; 0: no limit) is ended, under process_guard with all that it
 * has started: PROCESS_LATE. */
enum { PROCESS_LATE = -2 };
int process_run_until(char *const argv[], u64 until, struct text *output);
/* For a command, not for a library: while a child runs, SIGINT, SIGTERM and SIGHUP end the child and all that it has
 * started, and process_run returns. process_signal() then says which one came; 0: none. */
void process_guard(void);
int process_signal(void);

/* ---- pages of address space (mem is built on these) ---- */
u64 page_size(void);
u64 pages_limit(void);                /* bytes of address space this process may have (RLIMIT_AS); UINT64_MAX: any */
u64 pages_reserve(u64 at, u64 bytes); /* without access or memory; at 0: anywhere. 0: not there, or not so much */
/* How many of so many bytes can be read from an address on: the kernel is asked, a page at a time (of more than 16 MiB
 * some pages). */
u64 pages_readable(const void *p, u64 bytes);
/* Whether all of these bytes can be read, for a pointer that a program hands over and may be wrong about. Pages that
 * could be read before are remembered for the thread, and not asked about again. */
bool bytes_readable(const void *p, u64 bytes);
/* Copies memory that may not be there, or may go at any moment; a signal handler may ask. false: errno is EFAULT, or a
 * sandbox forbids to ask. */
bool pages_copy(void *to, u64 from, u64 bytes);
bool pages_commit(u64 at, u64 bytes); /* may be read and written from now on */
/* Into used[], for each page of memory that was committed: whether anybody has used it since, or since pages_discard.
 * false: that cannot be said, and nothing is in used[]. */
bool pages_used(u64 at, u64 bytes, u8 *used);
bool pages_discard(u64 at, u64 bytes); /* gives the memory back, keeps the addresses; they read as zero again */
bool pages_punch(u64 at, u64 bytes);   /* the same for a view of a file that may be written: every view reads as zero */
bool pages_withdraw(u64 at, u64 bytes); /* back to the state after pages_reserve, whatever was mapped there */
void pages_release(u64 at, u64 bytes);
bool pages_usable(u64 at, u64 bytes); /* mapped, and all of it may be read and written. Slow: reads a file */
/* How many of so many bytes can be read, or written, from an address on. One call of the kernel where all of them can,
 * which also makes the pages present. A sandbox may forbid to ask: then all of them. */
u64 pages_there(const void *p, u64 bytes, bool write);
/* The piece of address space around an address, by the kernel's list; false: nothing is mapped there. Slow: reads a
 * file. */
struct mapping {
    u64 low, high;
    bool read, write;
};
bool mapping_at(u64 at, struct mapping *out);
/* What memory of the process can be read at an address, by the kernel's list. Slow: reads a file. `file` receives the
 * name of a file without its folder, for PROCESS_FILE. */
enum process_memory {
    PROCESS_NOTHING, /* none */
    PROCESS_STACK,   /* of the first thread */
    PROCESS_FILE,    /* a file that is mapped: variables and constants of the program or a library */
    PROCESS_OTHER    /* of malloc, new or mmap; stacks of other threads */
};
enum process_memory process_memory_at(u64 at, char *file, size_t size);
int pages_file(u64 bytes); /* a file in memory; -1: refused */
bool pages_file_grow(int fd, u64 bytes);
bool pages_file_punch(int fd, u64 offset, u64 bytes); /* gives the memory back: it reads as zero again */
/* shared view over reserved addresses, or anywhere (0); 0: refused */
u64 pages_map(int fd, u64 offset, u64 at, u64 bytes);
void pages_file_close(int fd); /* the views stay */

/* ---- random numbers: the same everywhere for the same seed (splitmix64) ---- */
static inline u64 rand_next(u64 *state)
{
    u64 z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* ---- threads ---- */
#include <pthread.h>
typedef pthread_mutex_t lock_t; /* plain mutex; LOCK_INIT */
#define LOCK_INIT PTHREAD_MUTEX_INITIALIZER
/* One that threads hold briefly and often at the same time: who finds it taken looks again for a moment, since sleeping
 * and waking take longer than what it is held for. */
void lock_open_busy(lock_t *l);
static inline void lock(lock_t *l) { pthread_mutex_lock(l); }
static inline void unlock(lock_t *l) { pthread_mutex_unlock(l); }
/* It is going to be written by this thread, and another one has written it last. NULL: nothing. */
static inline void prefetch_for_writing(const void *p, size_t bytes)
{
    for (size_t k = 0; p && k < bytes; k += 64) __builtin_prefetch((const char *)p + k, 1);
}
void thread_sleep_us(u32 us);
/* The calling thread is one of ours, until its end, with this name: "lk-worker". At most 15 characters; once. */
void thread_name(const char *name);
/* Counts threads of the program, not ours; *running, unless NULL: those of them, without the caller, that run now. A
 * thread of ours that has not registered yet is not counted. false: nobody can tell, or threads began or ended
 * meanwhile. */
bool threads_of_program(u32 *all, u32 *awake);
static inline void cpu_relax(void)
{
#if defined __aarch64__
    __asm__ volatile("yield" ::: "memory");
#elif defined __x86_64__
    __asm__ volatile("pause" ::: "memory");
#endif
}
#endif
