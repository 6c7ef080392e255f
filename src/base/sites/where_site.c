/* Sites and names, each kept once, found without a lock.
 *
 * A table that is filled up under a lock and read without one: a slot holds the number of a record, which is complete
 * before its number is there. There is room for KEPT of them; a program that has more call paths than that gets the
 * innermost address only, and at last no site at all. So the table cannot grow for ever. */
#define _GNU_SOURCE
#include "sites/where.h"
#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

enum { KEPT = 1 << 16, FULL = KEPT / 4 * 3, SLOTS = 2 * KEPT, MARK_BYTES = 16, HELD = 7 };
/* Bytes: of the last frame, whose end is not known; of it that are looked through; of the stack that are. */
enum { LAST_FRAME = 1 << 16, LAST_SEEN = 512, SCANNED = 1 << 14 };

struct site_record {
    u64 hash;             /* of what follows */
    const char *function; /* that was called; NULL: the record is of a name */
    u32 site;             /* of a name: the number of its site */
    u32 n;                /* words */
    u64 word[];           /* of a site: addresses; of a name: how it is found (where_name); of where_held: an address,
                             the number of places, and the places of four words each */
};
static struct {
    lock_t lock;
    struct site_record *record[KEPT]; /* by number, from 1 on */
    char mark[KEPT][MARK_BYTES];
    u32 slot[SLOTS]; /* atomic: the number at a hash, 0: free */
    u32 n;           /* records */
    struct arena mem;
    void (*listener)(const char *text, size_t n);
} t = { .lock = LOCK_INIT };

bool where_used(void) { return __atomic_load_n(&t.n, __ATOMIC_RELAXED) != 0; }

bool where_kept(const char *text) { return (uintptr_t)text - (uintptr_t)t.mark < sizeof t.mark; }

const char *where_called(const char *site)
{
    unsigned number = 0;
    bool is = site && sscanf(site, "{lk@s%x}", &number) == 1 && number &&
              number <= __atomic_load_n(&t.n, __ATOMIC_ACQUIRE);
    return is ? t.record[number]->function : NULL;
}

void where_send(const char *format, ...)
{
    char line[4400];
    va_list a;
    if (!t.listener) return;
    va_start(a, format);
    int n = vsnprintf(line, sizeof line, format, a);
    va_end(a);
    if (n > 0 && (size_t)n < sizeof line) t.listener(line, (size_t)n);
}

static u64 hash_of(const char *function, u32 site, const u64 *word, u32 n)
{
    u64 h = (uintptr_t)function * 0x9e3779b97f4a7c15ull + site;
    for (u32 i = 0; i < n; i++) h = (h ^ word[i] ^ h >> 29) * 0xff51afd7ed558ccdull;
    return h ^ h >> 32;
}

static bool is_it(const struct site_record *r, u64 hash, const char *function, u32 site, const u64 *word, u32 n)
{
    return r->hash == hash && r->function == function && r->site == site && r->n == n &&
           (!n || !memcmp(r->word, word, n * sizeof *word));
}

/* The number of the record; 0: not found, and *at is its free slot. */
static u32 find(u64 hash, const char *function, u32 site, const u64 *word, u32 n, u32 *at)
{
    u32 number;
    for (*at = (u32)hash % SLOTS; (number = __atomic_load_n(&t.slot[*at], __ATOMIC_ACQUIRE)); *at = (*at + 1) % SLOTS)
        if (is_it(t.record[number], hash, function, site, word, n)) return number;
    return 0;
}

static void site_send(u32 number)
{
    const struct site_record *r = t.record[number];
    char line[40 + 80 + WHERE_FRAMES * 20];
    int k = snprintf(line, sizeof line, "site %x %.60s", number, r->function);
    for (u32 i = 0; i < r->n; i++) k += snprintf(line + k, sizeof line - (size_t)k, " %" PRIx64, r->word[i]);
    where_send("%s\n", line);
}

/* A place in a frame, as where_name has it. */
static int place_print(char *out, size_t size, const u64 word[4])
{
    int k = snprintf(out, size, " %" PRIx64 " %" PRIx64, word[0], word[1]);
    return k + (word[3] ? snprintf(out + k, size - (size_t)k, " %" PRIx64, word[2])
                        : snprintf(out + k, size - (size_t)k, " -"));
}

static void held_send(u32 number)
{
    const struct site_record *r = t.record[number];
    char line[80 + HELD * 60];
    int k = snprintf(line, sizeof line, "name %x %x held %" PRIx64, number, r->site, r->word[0]);
    for (u32 i = 2; i < r->n; i += 4) k += place_print(line + k, sizeof line - (size_t)k, &r->word[i]);
    where_send("%s\n", line);
}

enum { PACKAGE = 3 }; /* words of a name of a script whose call is a package's: no other name has so many */
static void name_send(u32 number)
{
    const struct site_record *r = t.record[number];
    char place[80];
    if (r->n % 4 == 2)
        held_send(number);
    else if (!r->n || r->n == PACKAGE)
        where_send("name %x %x script%s\n", number, r->site, r->n ? " package" : "");
    else if (r->n == 1)
        where_send("name %x %x global %" PRIx64 "\n", number, r->site, r->word[0]);
    else {
        place_print(place, sizeof place, r->word);
        where_send("name %x %x local%s\n", number, r->site, place);
    }
}

static void send_number(u32 number)
{
    if (t.record[number]->function)
        site_send(number);
    else
        name_send(number);
}

/* The mark of the record, which is made if it is new; NULL: there is no room. */
static const char *keep(const char *function, u32 site, const u64 *word, u32 n)
{
    u32 at, number;
    u64 hash = hash_of(function, site, word, n);
    if ((number = find(hash, function, site, word, n, &at))) return t.mark[number];
    where_modules_look(); /* before the lock: the loader has one of its own */
    lock(&t.lock);
    number = find(hash, function, site, word, n, &at);
    if (!number && t.n < KEPT - 1) {
        struct site_record *r = arena_alloc(&t.mem, sizeof *r + n * sizeof *word, _Alignof(struct site_record));
        r->hash = hash;
        r->function = function;
        r->site = site;
        r->n = n;
        if (n) memcpy(r->word, word, n * sizeof *word);
        number = t.n + 1;
        __atomic_store_n(&t.n, number, __ATOMIC_RELAXED); /* others read it without the lock */
        t.record[number] = r;
        snprintf(t.mark[number], MARK_BYTES, "{lk@%c%05x}", function ? 's' : n % 4 == 2 ? 'v' : 'n', number);
        send_number(number);
        __atomic_store_n(&t.slot[at], number, __ATOMIC_RELEASE);
    }
    unlock(&t.lock);
    return number ? t.mark[number] : NULL;
}

const char *where_site(const char *function, const struct where_stack *s)
{
    bool full = __atomic_load_n(&t.n, __ATOMIC_RELAXED) > FULL;
    return keep(function, 0, s->address, full ? 1 : s->n);
}

static u32 number_of(const char *mark) { return (u32)((mark - t.mark[0]) / MARK_BYTES); }

/* Where in which frame an address of the stack lies: the frame, from its stack pointer, from its end, and whether that
 * is known. */
static bool place_of(const struct where_stack *s, u64 address, u64 word[4])
{
    u64 high = where_stack_end();
    for (u32 k = 0; k < s->n; k++) {
        bool last = k + 1 == s->n;
        if (address < s->stack[k] || (!last && address >= s->stack[k + 1])) continue;
        if (last && address - s->stack[k] > LAST_FRAME) return false; /* of a frame whose end is not known */
        if (s->stack[k] < high && address >= high) return false;      /* above the stack: in qemu, the program itself */
        word[0] = k;
        word[1] = address - s->stack[k];
        word[2] = last ? 0 : address - s->stack[k + 1];
        word[3] = !last && s->known[k];
        return true;
    }
    return false;
}

const char *where_held(const char *site, const struct where_stack *s, u64 pointer)
{
    u64 word[2 + 4 * HELD] = { 0 }, *n = &word[1];
    Dl_info in;
    if (!site || !where_kept(site) || __atomic_load_n(&t.n, __ATOMIC_RELAXED) > FULL) return NULL;
    if (place_of(s, pointer, &word[2])) { /* it leads into the stack itself: a variable of it */
        *n = 1;
        word[0] = 1;
        return keep(NULL, number_of(site), word, 6);
    }
    if (dladdr((const void *)(uintptr_t)pointer, &in)) word[0] = pointer; /* it may be a variable of a file */
    u64 end = s->n ? MIN_OF(s->stack[s->n - 1] + LAST_SEEN, where_stack_end()) : 0;
    for (u64 at = s->stack[0]; at + 8 <= end && at - s->stack[0] < SCANNED && *n < HELD; at += 8) {
        u64 is;
        memcpy(&is, (const void *)(uintptr_t)at, sizeof is);
        if (is == pointer && place_of(s, at, &word[2 + 4 * *n])) ++*n;
    }
    return keep(NULL, number_of(site), word, 2 + 4 * (u32)*n);
}

const char *where_name(const char *site, const struct where_stack *s, u64 address)
{
    u64 place[4];
    if (!site || !where_kept(site) || __atomic_load_n(&t.n, __ATOMIC_RELAXED) > FULL) return NULL;
    if (place_of(s, address, place)) return keep(NULL, number_of(site), place, COUNT_OF(place));
    if (s->n && address >= s->stack[s->n - 1] && address < where_stack_end()) return NULL; /* of a frame above */
    u64 word[] = { address };
    return keep(NULL, number_of(site), word, COUNT_OF(word));
}

const char *where_name_script(const char *site, bool package)
{
    static const u64 none[PACKAGE];
    if (!site || !where_kept(site) || __atomic_load_n(&t.n, __ATOMIC_RELAXED) > FULL) return NULL;
    return keep(NULL, number_of(site), none, package ? PACKAGE : 0);
}

void where_listen(void (*line)(const char *text, size_t n))
{
    lock(&t.lock);
    t.listener = line;
    where_modules_send();
    where_scripts_send();
    for (u32 i = 1; i <= t.n; i++) send_number(i);
    unlock(&t.lock);
}

void where_fork_begin(void)
{
    modules_hold(true);
    lock(&t.lock);
}
void where_fork_end(void)
{
    unlock(&t.lock);
    modules_hold(false);
}

/* ---- without a launcher ---- */

/* The record that a mark at z stands for, and how long the mark is; NULL: it is not one. */
static const struct site_record *mark_read(const char *z, const char *end, u32 *bytes)
{
    char *rest;
    if (end - z < 11 || memcmp(z, "{lk@", 4) != 0 || !strchr("sfhnjv", z[4])) return NULL;
    unsigned long number = strtoul(z + 5, &rest, 16);
    if (*rest == '#') strtoul(rest + 1, &rest, 10);
    if (*rest == '=') rest += strcspn(rest, "}");
    if (*rest != '}' || !number || number > t.n) return NULL;
    *bytes = (u32)(rest + 1 - z);
    return t.record[number];
}

u64 where_statement(const char *mark)
{
    u32 bytes;
    const struct site_record *r = mark ? mark_read(mark, mark + strlen(mark), &bytes) : NULL, *site = r;
    if (!r) return mark ? str_hash(str_of(mark)) : 0;
    if (r->site) site = t.record[r->site];
    /* in front of the user's own functions are templates of the same name, as cudaMalloc<float> of the runtime's header
     */
    u32 k = 0;
    char name[120];
    bool known = false;
    for (; k < site->n && site->word[k] < WHERE_SCRIPT; k++) {
        known = where_function(site->word[k] - 1, name, sizeof name);
        if (!known || !strstr(name, site->function)) break;
    }
    if (!known || k == site->n) return (uintptr_t)r; /* records are kept once */
    return hash_of(site->function, r == site ? 0 : (u32)site->word[k], r == site ? &site->word[k] : r->word,
                   r == site ? 1 : r->n);
}

void where_expand(struct str text, struct text *out)
{
    const char *end = text.p + text.n;
    for (const char *z = text.p; z < end;) {
        u32 bytes;
        const struct site_record *r = *z == '{' ? mark_read(z, end, &bytes) : NULL;
        if (!r) {
            const char *brace = memchr(z + 1, '{', (size_t)(end - z - 1));
            size_t n = (size_t)((brace ? brace : end) - z);
            text_put(out, z, n);
            z += n;
            continue;
        }
        const char *number = memchr(z, '#', bytes), *called = memchr(z, '=', bytes);
        bool at = z - text.p >= 3 && !memcmp(z - 3, "at ", 3);
        if (!r->function && z[4] == 'v')
            ; /* nothing is known without debug information */
        else if (!r->function && called)
            text_put(out, called + 1, (size_t)(z + bytes - 1 - (called + 1)));
        else if (!r->function)
            text_add(out, "buffer %lu", number ? strtoul(number + 1, NULL, 10) : 0ul);
        else {
            if (z[4] == 'f' || (z[4] == 's' && !at)) text_add(out, "%s", r->function);
            if (z[4] == 's' && !at) text_add(out, " at ");
            if (z[4] != 'f' && !where_script_path(r->word, r->n, z[4] == 'h', out)) where_plain(r->word[0], out);
        }
        z += bytes;
    }
}
