/* Unit tests of base: arenas, text, words, XML, maps, errors, fallible memory, spare blocks, files, processes, pages.
 */
#include "base/c_text.h"
#include "base/printable.h"
#include "base/xml.h"
#include "unit.h"
#include <sys/syscall.h>
#include <sys/prctl.h>
#include <sys/mman.h>
#include <stddef.h>
#include <linux/seccomp.h>
#include <linux/filter.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void arenas(void)
{
    struct arena a = { 0 };
    bool zero = true, aligned = true;
    u64 seed = 1;
    for (int i = 0; i < 5000; i++) {
        size_t n = rand_next(&seed) % 300, align = (size_t)1 << rand_next(&seed) % 7;
        u8 *p = arena_alloc(&a, n, align);
        aligned &= !((uintptr_t)p & (align - 1));
        for (size_t k = 0; k < n; k++) zero &= !p[k];
        memset(p, 0xee, n);
    }
    u8 *big = arena_alloc(&a, 5 << 20, 4096);
    UNIT(!((uintptr_t)big & 4095));
    memset(big, 1, 5 << 20);
    UNIT(zero);
    UNIT(aligned);
    UNIT(a.total >= a.used);
    UNIT_EQ_STR(arena_printf(&a, "%s-%d", "x", 7), "x-7");
    UNIT_EQ_STR(arena_str(&a, (struct str){ "hello", 3 }), "hel");
    UNIT_EQ_STR(arena_str(&a, (struct str){ NULL, 0 }), "");
    arena_free(&a);
    UNIT(!a.head && !a.used);
    memset(arena_alloc(&a, 3000, 8), 255, 3000); /* a reset keeps a block, which is zero again */
    u8 *first = arena_alloc(&a, 100, 8);
    memset(first, 255, 100);
    struct arena_block *kept = a.head;
    arena_reset(&a, 1 << 16);
    u8 *again = arena_alloc(&a, 3200, 8), any = 0;
    for (u32 i = 0; i < 3200; i++) any |= again[i];
    UNIT(a.head == kept && again + 3000 <= first && !any && a.used == 3200);
    arena_reset(&a, 1000); /* too large to be kept */
    UNIT(!a.head && !a.used && !a.total);
}

static void vectors_and_maps(void)
{
    struct arena a = { 0 };
    VEC(u32) v = { 0 };
    for (u32 i = 0; i < 1000; i++) VEC_PUSH(&a, &v, i * i);
    bool same = true;
    for (u32 i = 0; i < 1000; i++) same &= v.p[i] == i * i;
    UNIT(same);

    struct map m = { 0 };
    UNIT(!map_get(&m, STR("nothing")));
    for (u32 i = 0; i < 1000; i++) map_put(&a, &m, str_of(arena_printf(&a, "name%u", i)), &v.p[i]);
    UNIT_EQ(m.n, 1000);
    map_put(&a, &m, STR("name500"), &v.p[1]);
    UNIT_EQ(m.n, 1000);
    UNIT(map_get(&m, STR("name500")) == &v.p[1]);
    UNIT(map_get(&m, STR("name999")) == &v.p[999]);
    UNIT(!map_get(&m, STR("name1000")));
    arena_free(&a);
}

static void texts(void)
{
    struct text t = { 0 };
    for (int i = 0; i < 200; i++) text_add(&t, "%d,", i);
    text_put(&t, "end", 3);
    UNIT(!strncmp(t.p, "0,1,2,", 6));
    UNIT_EQ_STR(t.p + t.n - 7, "199,end");
    text_free(&t);
    text_put(&t, "", 0);
    UNIT_EQ_STR(t.p, "");
    text_free(&t);
    UNIT(str_is(STR("abc"), "abc"));
    UNIT(!str_is(STR("abc"), "abcd"));
    UNIT(str_eq((struct str){ 0 }, STR("")));
    UNIT(str_hash(STR("abcdefgh1")) != str_hash(STR("abcdefgh2")));
    UNIT(str_hash(STR("a")) == str_hash((struct str){ "ab", 1 }));
}

static void errors(void)
{
    struct error e = { 0 };
    struct str all = STR("first\n\tadd.f32 x, y;\nlast");
    UNIT(!error_at(&e, ERR_INPUT, "k.ptx", all, all.p + 7, "no such %s", "opcode"));
    UNIT_EQ_STR(e.where, "k.ptx:2:2");
    UNIT_EQ_STR(e.text, "no such opcode");
    UNIT_EQ_STR(e.excerpt, "\tadd.f32 x, y;\n\t^");
    error_set(&e, ERR_MEMORY, "second");
    UNIT_EQ_STR(e.text, "no such opcode");
    UNIT_EQ(e.code, ERR_INPUT);

    e = (struct error){ 0 };
    error_at(&e, ERR_INPUT, "k.ptx", all, all.p + all.n, "ends too early");
    UNIT_EQ_STR(e.where, "k.ptx:3:5");
    UNIT_EQ_STR(e.excerpt, "last\n    ^");

    static char wide[4097];
    memset(wide, 'x', 4096);
    for (int at = 0; at <= 4096; at += 512) {
        e = (struct error){ 0 };
        error_at(&e, ERR_INPUT, wide + 1, (struct str){ wide, 4096 }, wide + at, "%.*s", 4000, wide);
        const char *caret = strchr(e.excerpt, '^');
        UNIT(caret && strlen(e.excerpt) < sizeof e.excerpt - 1 && strlen(e.where) < sizeof e.where);
    }
    UNIT(!error_set(NULL, ERR_INPUT, "nobody listens"));
}

static void allocation(void)
{
    base_alloc_fail_at(3);
    void *a = base_alloc(10), *b = base_alloc(10), *c = base_alloc(10), *d = base_alloc(10);
    UNIT(a && b && !c && d);
    base_free(a);
    base_free(b);
    base_free(d);
    base_alloc_fail_at(0);
    UNIT((a = base_realloc(NULL, 8)) != NULL);
    base_free(a);
}

/* Two threads take blocks and two give them back, through a ring of places: none is in two hands. */
enum { SPARE_PLACES = 64, SPARE_TURNS = 20000, SPARE_BYTES = 96 };
static struct {
    struct spares all;
    u64 *place[SPARE_PLACES]; /* atomic */
    u32 wrong, left;          /* atomic: blocks that somebody else had, too; turns to be given back */
} spare;

static void *spares_taker(void *of)
{
    for (u32 k = 0; k < SPARE_TURNS; k++) {
        u64 *b = spares_take(&spare.all, SPARE_BYTES);
        for (u32 i = 0; i < SPARE_BYTES / 8; i++) b[i] = (uintptr_t)of + k;
        u64 *none = NULL;
        for (u32 i = k; !__atomic_compare_exchange_n(&spare.place[i % SPARE_PLACES], &none, b, false, __ATOMIC_ACQ_REL,
                                                     __ATOMIC_RELAXED);
             i++)
            none = NULL;
    }
    return NULL;
}

static void *spares_giver(void *of)
{
    for (u32 i = (u32)(uintptr_t)of; __atomic_load_n(&spare.left, __ATOMIC_RELAXED); i++) {
        u64 *b = __atomic_exchange_n(&spare.place[i % SPARE_PLACES], NULL, __ATOMIC_ACQ_REL);
        if (!b) continue;
        for (u32 k = 1; k < SPARE_BYTES / 8; k++)
            if (b[k] != b[0]) __atomic_fetch_add(&spare.wrong, 1, __ATOMIC_RELAXED);
        spares_give(&spare.all, b);
        __atomic_fetch_sub(&spare.left, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void spares(void)
{
    void *a = spares_take(&spare.all, SPARE_BYTES), *b = spares_take(&spare.all, SPARE_BYTES);
    UNIT(a && b && a != b);
    spares_give(&spare.all, a);
    spares_give(&spare.all, NULL);
    UNIT(spares_take(&spare.all, SPARE_BYTES) == a);
    spares_give(&spare.all, b);
    base_alloc_fail_at(1);
    UNIT(spares_take(&spare.all, SPARE_BYTES) == b && !spares_take(&spare.all, SPARE_BYTES));
    spares_give(&spare.all, a);
    spares_give(&spare.all, b);
    pthread_t t[4];
    spare.left = 2 * SPARE_TURNS;
    for (uintptr_t k = 0; k < 4; k++)
        pthread_create(&t[k], NULL, k < 2 ? spares_taker : spares_giver, (void *)(k << 32));
    for (u32 k = 0; k < 4; k++) pthread_join(t[k], NULL);
    UNIT_EQ(spare.wrong, 0);
    spares_free(&spare.all);
}

static void files(void)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/lockstep-unit-%ld", (long)getpid());
    struct error e = { 0 };
    struct str s;
    UNIT(file_write(path, "some bytes", 10, &e));
    UNIT(file_read(path, &s, &e) && str_is(s, "some bytes") && !s.p[s.n]);
    base_free((void *)s.p);
    UNIT(file_write(path, "", 0, &e));
    UNIT(file_read(path, &s, &e) && !s.n);
    base_free((void *)s.p);
    base_alloc_fail_at(1);
    UNIT(!file_read(path, &s, &e) && e.code == ERR_MEMORY);
    base_alloc_fail_at(0);
    unlink(path);
    e = (struct error){ 0 };
    UNIT(!file_read(path, &s, &e));
    UNIT_HAS(e.text, "No such file");
    e = (struct error){ 0 };
    UNIT(!file_read("/tmp", &s, &e));
    UNIT_HAS(e.text, "directory");
    e = (struct error){ 0 };
    UNIT(file_write("/dev/null", "x", 1, &e));
    UNIT(!file_write("/nowhere/at/all", "x", 1, &e) && e.code == ERR_INPUT);
    /* a program by PATH, where an empty part is the current folder; by a path of its own; a folder is none */
    char found[64], old[4096];
    snprintf(old, sizeof old, "%s", getenv("PATH") ? getenv("PATH") : "");
    setenv("PATH", "/nowhere:/bin", 1);
    UNIT(file_program("sh", found, sizeof found) && !strcmp(found, "/bin/sh"));
    UNIT(file_program("/bin/sh", found, sizeof found) && !strcmp(found, "/bin/sh"));
    UNIT(!file_program("/bin", found, sizeof found) && !found[0]);
    UNIT(!file_program("no such program", found, sizeof found) && !found[0]);
    UNIT(!file_program("sh", found, 4) && !found[0]);
    setenv("PATH", "", 1);
    UNIT(!file_program("sh", found, sizeof found));
    setenv("PATH", old, 1);
}

static void processes(void)
{
    struct text t = { 0 };
    UNIT_EQ(process_run((char *[]){ "sh", "-c", "echo out; echo err >&2; exit 7", NULL }, &t), 7);
    UNIT_EQ_STR(t.p, "out\nerr\n");
    UNIT_EQ(process_run((char *[]){ "sh", "-c", "kill -9 $$", NULL }, NULL), 137);
    /* qemu-user makes a process in the place of one that shares its memory, and tells of no exec that failed */
    UNIT_EQ(process_run((char *[]){ "/no/such/program", NULL }, NULL), getenv("EMULATED") ? 127 : -1);
    text_free(&t);
    UNIT(cpu_count() >= 1);
    u64 t0 = time_ns();
    UNIT(time_ns() >= t0);
}

static void pages(void)
{
    u64 page = page_size(), a = pages_reserve(0, 64 * page);
    UNIT(a && pages_commit(a, page));
    memset((void *)(uintptr_t)a, 5, page);
    UNIT(pages_discard(a, page) && !*(u8 *)(uintptr_t)a);
    UNIT(!pages_reserve(a, page));
    int fd = pages_file(page);
    u64 one = pages_map(fd, 0, a + page, page), two = pages_map(fd, 0, 0, page);
    pages_file_close(fd);
    UNIT(one == a + page && two && two != one);
    *(u8 *)(uintptr_t)one = 9;
    UNIT_EQ(*(u8 *)(uintptr_t)two, 9);
    UNIT(pages_punch(one, page)); /* which qemu-user takes for advice */
    UNIT(!*(u8 *)(uintptr_t)two);
    UNIT(pages_withdraw(one, page));
    pages_release(two, page);
    pages_release(a, 64 * page);
}

/* A child of fork, and its child, know themselves, though the number was asked for before. */
static void process_ids(void)
{
    UNIT_EQ(process_id(), (s32)getpid());
    UNIT_EQ(process_id(), (s32)getpid());
    pid_t child = fork();
    if (!child) {
        bool right = process_id() == (s32)getpid() && process_id() == (s32)getpid();
        pid_t grandchild = fork();
        if (!grandchild) _exit(process_id() != (s32)getpid());
        int status = 1;
        waitpid(grandchild, &status, 0);
        _exit(!right || status);
    }
    int status = 1;
    UNIT(child > 0 && waitpid(child, &status, 0) == child && !status);
}

/* A sandbox that forbids process_vm_readv: what can be read is still known, by other ways. */
static int sandboxed(void)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { COUNT_OF(program), program };
    u64 page = page_size(), word = 0;
    char *p = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(p + page, page, PROT_NONE);
    memset(p, 7, page);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 1;
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter); /* an emulator may know neither this nor process_vm_readv */
    if (!pages_copy(&word, (uintptr_t)p, sizeof word) || word != 0x0707070707070707u) return 2;
    if (pages_copy(&word, 16, sizeof word) || errno != EFAULT) return 3;
    if (pages_readable(p + 100, 2 * page) != page - 100) return 4;
    if (pages_there(p + 100, 2 * page, true) != page - 100) return 5;
    return 0;
}
static void sandbox(void)
{
    int status = -1;
    pid_t child = fork();
    if (!child) _exit(sandboxed());
    UNIT(waitpid(child, &status, 0) == child && WIFEXITED(status));
    UNIT_EQ(WEXITSTATUS(status), 0);
}

static void words(void)
{
    static const char text[] = "a_1 \"b\\\"c\" /* d */ e // f\n'g\nh";
    const char *end = text + sizeof text - 1, *p = text;
    UNIT(word_span(text, end) == 3 && word_span(text, text + 2) == 2 && word_span(" a", NULL) == 0);
    UNIT(is_whole_word(text, text, 3, end) && !is_whole_word(text, text, 2, end) &&
         !is_whole_word(text, text + 1, 2, end));
    UNIT(is_whole_word(text, end - 1, 1, end) && is_whole_word(text, end - 1, 1, NULL));
    char left[sizeof text];
    u32 n = 0;
    while (p < end) {
        const char *q = past_quoted(p, end);
        if (q == p) left[n++] = *p++;
        p = q > p ? q : p;
    }
    left[n] = 0;
    UNIT_EQ_STR(left, "a_1   e \n\nh");
    static const char open[] = "/* never";
    UNIT(past_quoted(open, open + sizeof open - 1) == open + sizeof open - 1);
}

static void xml(void)
{
    struct text t = { 0 };
    text_xml(&t, "a<b> & \"c\"\n\t\x01\x7f");
    UNIT_EQ_STR(t.p, "a&lt;b&gt; &amp; &quot;c&quot;\n\t\\x01\\x7f");
    text_free(&t);
    text_xml_line(&t, "a<\n\t\xe2\x80\xae\xff");
    UNIT_EQ_STR(t.p, "a&lt;\\x0a \\u202e\\xff");
    text_free(&t);
}

/* Text of others: what is plain stays, what is obeyed is spelled out, wherever it is cut. */
static void foreign(void)
{
    static const struct {
        const char *given, *cell;
    } cells[] = {
        { "softmax n=64, reduce_sum (a.cu:12)", "softmax n=64, reduce_sum (a.cu:12)" },
        { "a|b", "<code>a&#124;b</code>" },
        { "a\\|b\r\nc", "<code>a&#92;&#124;b&#92;x0d c</code>" },
        { "@team #1 _x_", "<code>&#64;team &#35;1 &#95;x&#95;</code>" },
        { "[x](y) `c` <b> *d* ~e~ $f$ &g;",
          "<code>&#91;x&#93;(y) &#96;c&#96; &#60;b&#62; &#42;d&#42; &#126;e&#126; &#36;f&#36; &#38;g;</code>" },
        { "http://e.x WWW.e.x", "<code>http&#58;//e.x &#87;WW.e.x</code>" },
        { "\x1b[0m\xe2\x80\xae", "<code>&#92;x1b&#91;0m&#92;u202e</code>" },
        { "", "" }
    };
    static const char all[] = "a\x1b[1m\n\tb\xc2\x9b\xe2\x81\xa6\xf0\x9f\x98\x80\xff\xe2\x82";
    struct text t = { 0 };
    for (u32 i = 0; i < COUNT_OF(cells); i++) {
        text_markdown(&t, cells[i].given);
        UNIT_EQ_STR(t.n ? t.p : "", cells[i].cell);
        text_free(&t);
    }
    text_lines(&t, all, sizeof all - 1);
    UNIT_EQ_STR(t.p, "a\\x1b[1m\n\tb\\u009b\\u2066\xf0\x9f\x98\x80\\xff\\xe2\\x82");
    text_free(&t);
    text_json(&t, all);
    UNIT_EQ_STR(t.p, "\"a\\u001b[1m\\n\\tb\\u009b\\u2066\xf0\x9f\x98\x80\\ufffd\\ufffd\\ufffd\"");
    text_free(&t);
    for (size_t room = 1; room < 40; room++) { /* in place, with little room: no character is left in part */
        char z[40] = "ab\xc3\xa9\x1b\x1b\x1b";
        shown_in_place(z, room);
        UNIT(strlen(z) < MAX_OF(room, sizeof "ab\xc3\xa9") && !strchr(z, '\x1b'));
        UNIT(room < 17 || !strcmp(z, "ab\xc3\xa9\\x1b\\x1b\\x1b"));
    }
    struct error e = { 0 };
    error_at(&e, ERR_INPUT, "a\x1b]0;b\xe2\x80\xae.cu", str_of("x"), NULL, "no \x9b%s", "\xe2\x80\xaek");
    UNIT_EQ_STR(e.where, "a\\x1b]0;b\\u202e.cu");
    UNIT_EQ_STR(e.text, "no \\x9b\\u202ek");
}

int main(void)
{
    arenas();
    vectors_and_maps();
    texts();
    words();
    xml();
    foreign();
    errors();
    allocation();
    spares();
    files();
    processes();
    process_ids();
    pages();
    sandbox();
    return unit_done();
}
