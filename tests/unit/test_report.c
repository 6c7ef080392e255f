/* Unit tests of report: grouping, order, the words for threads and elements, JSON. */
#include "report/report.h"
#include "unit.h"
#include <stdlib.h>
#include <unistd.h>

static const struct place load_place = {
    .file = "/nowhere/add.cu",
    .line = 7,
    .col = 12,
    .function = "add",
    .ptx_file = "/nowhere/add.ptx",
    .ptx_line = 57,
    .ptx_text = "ld.global.f32 %f1, [%rd4];",
};

/* A finding of `n` lanes of a CTA, reading past a 1000-element array. */
static struct finding sample(u32 cta, u32 first, u32 n)
{
    struct finding f = {
        .kind = F_bounds,
        .place = &load_place,
        .kernel = "add",
        .cta = { cta, 0, 0 },
        .nctaid = { 4, 1, 1 },
        .ntid = { 256, 1, 1 },
        .nlanes = n,
        .access = "read",
        .space = "global",
        .width = 4,
        .object = "a",
        .object_type = "f32[1000]",
        .object_base = 0x1000,
        .object_size = 4000,
        .element_size = 4,
    };
    for (u32 i = 0; i < n; i++) {
        f.thread[i] = first + i;
        f.addr[i] = 0x1000 + 4ull * (cta * 256 + first + i);
    }
    return f;
}

static char *text_of(struct report *r)
{
    struct text t = { 0 };
    report_text(r, (struct report_style){ 0 }, &t);
    return t.p;
}

static void add(struct report *r, struct finding f) { report_add(r, &f); }

static void one(void)
{
    struct report *r = report_new();
    char *t = text_of(r);
    UNIT_EQ_STR(t, "no findings\n");
    free(t);
    add(r, sample(3, 232, 24));
    UNIT_EQ(report_errors(r), 1);
    UNIT_EQ(report_occurrences(r), 24);
    t = text_of(r);
    UNIT_EQ_STR(t,
                "error[bounds]: access outside the allocation\n"
                "  --> /nowhere/add.cu:7:12\n"
                "  --> /nowhere/add.ptx:57 (the source is not on this machine)\n"
                "   |\n"
                "57 | ld.global.f32 %f1, [%rd4];\n"
                "   | ^^^^^^^^^^^^^\n"
                "   |\n"
                "   = kernel: add\n"
                "   = access: ld.global.f32 reads 4 bytes at a+0xfa0, element [1000] of f32[1000], just past the end\n"
                "   = range: elements [1000..1023]\n"
                "   = who: threads 232..255 of block 3 (24 threads)\n"
                "   = cause: A thread read or wrote bytes that do not belong to the object its pointer came from.\n"
                "   = fix: Compare the index with the number of elements before the access, or launch fewer threads.\n"
                "\n"
                "1 finding: 1 error (24 occurrences)\n");
    free(t);
    report_clear(r);
    UNIT_EQ(report_errors(r) + report_occurrences(r), 0);
    report_free(r);
}

static void expect_who(struct report *r, const char *words)
{
    char *t = text_of(r);
    UNIT_HAS(t, words);
    free(t);
    report_clear(r);
}

static void who(void)
{
    struct report *r = report_new();
    add(r, sample(3, 255, 1));
    expect_who(r, "who: thread 255 of block 3\n");
    for (u32 c = 0; c < 4; c++) add(r, sample(c, 96, 32));
    expect_who(r, "who: threads 96..127 of every block (32 threads in each of 4 blocks)\n");
    for (u32 c = 0; c < 4; c++)
        for (u32 w = 0; w < 8; w++) add(r, sample(3 - c, w * 32, 32));
    expect_who(r, "who: all 256 threads of every block");
    add(r, sample(1, 0, 32));
    add(r, sample(2, 0, 32));
    expect_who(r, "who: threads 0..31 of blocks 1..2 (32 threads in each of 2 blocks)");
    add(r, sample(2, 250, 6));
    for (u32 w = 0; w < 8; w++) add(r, sample(3, w * 32, 32));
    expect_who(r, "who: 262 consecutive threads in 2 blocks, from 250 of block 2 to 255 of block 3");

    struct finding f = sample(0, 0, 8); /* every second thread, every fourth element */
    for (u32 i = 0; i < 8; i++) {
        f.thread[i] = i * 2;
        f.addr[i] = 0x1000 + 4000 + 16 * i;
    }
    report_add(r, &f);
    char *t = text_of(r);
    UNIT_HAS(t, "who: threads 0..14 step 2 of block 0 (8 threads)");
    UNIT_HAS(t, "range: elements [1000..1028] in steps of 4");
    free(t);
    report_clear(r);

    f = sample(0, 0, 16); /* an 8x8 block: x 4..7, y 2..5 */
    f.ntid[0] = f.ntid[1] = 8;
    for (u32 i = 0; i < 16; i++) f.thread[i] = (2 + i / 4) * 8 + 4 + i % 4;
    report_add(r, &f);
    expect_who(r, "who: threads (4..7,2..5) of block 0 (16 threads)");

    f = sample(0, 0, 1); /* a million CTAs, a few of them hit */
    f.nctaid[0] = 1 << 20;
    for (u32 c = 0; c < 1 << 20; c += 1 << 16) {
        f.cta[0] = c;
        report_add(r, &f);
    }
    t = text_of(r);
    UNIT_HAS(t, "who: thread 0 of block 0, and more");
    UNIT_HAS(t, "16 occurrences");
    free(t);
    report_free(r);
}

static void what(void)
{
    struct report *r = report_new();
    struct finding f = sample(0, 0, 1);
    f.addr[0] = 0x1000 - 8;
    report_add(r, &f);
    expect_who(r, "at a-0x8, element [-2] of f32[1000], 8 bytes before the start\n");
    f.addr[0] = 0x1000 + 3998;
    report_add(r, &f);
    expect_who(r, "at a+0xf9e, inside element [999] of f32[1000], its last 2 bytes past the end\n");
    f.object_type = "f32[10,100]";
    f.addr[0] = 0x1000 + 4000 + 12;
    report_add(r, &f);
    expect_who(r, "element [10,3] of f32[10,100], 12 bytes past the end\n");
    f.object_type = "f32[10][100]";
    f.addr[0] = 0x1000 - 4;
    report_add(r, &f);
    f.addr[0] = 0x1000 - 400;
    report_add(r, &f);
    expect_who(r, "range: elements [-1,0] and [-1,99]\n");
    f.object_type = "f32[1000]";
    f.kind = F_misaligned;
    f.width = 16;
    f.access = "write";
    f.addr[0] = 0x1004;
    report_add(r, &f);
    expect_who(r, "writes 16 bytes at a+0x4, element [1] of f32[1000]; the address is 4 past a multiple of 16\n");
    f.kind = F_null_pointer;
    f.object = NULL;
    f.addr[0] = 0x10;
    report_add(r, &f);
    expect_who(r, "writes 16 bytes at 0x10\n");
    f = (struct finding){
        .kind = F_deadlock, .kernel = "k", .detail = "block 0 waits\nblock 1 waits\n", .cause = "two\nlines"
    };
    report_add(r, &f);
    char *t = text_of(r);
    UNIT_HAS(t, "  | block 0 waits\n  | block 1 waits\n");
    UNIT_HAS(t, "  = cause: two\n           lines\n");
    free(t);
    report_free(r);
}

/* A deadlock of many threads is one occurrence; a joint sentence gives the largest end of all, and words that look
 * like a gap stay as they are. */
static void joined(void)
{
    struct report *r = report_new();
    struct finding f = sample(0, 0, 32);
    f.cause = "{end} %s {index}";
    f.joint_cause = (struct joint){ "not ", GAP_END, NULL };
    f.joint_fix = (struct joint){ "Give it ", GAP_END, " bytes, {end}." };
    f.once = true;
    report_add(r, &f);
    f = sample(0, 32, 32);
    f.joins = true;
    report_add(r, &f);
    char *t = text_of(r);
    UNIT_HAS(t, "who: threads 0..63 of block 0 (64 threads)\n");
    UNIT_HAS(t, "cause: {end} %s {index}\n");
    UNIT_HAS(t, "fix: Give it 256 bytes, {end}.\n");
    UNIT_HAS(t, "(1 occurrence)");
    free(t);
    report_free(r);
}

/* The same findings in another order give the same bytes. */
static void order(void)
{
    enum { N = 200 };
    char *first = NULL;
    for (int round = 0; round < 4; round++) {
        struct report *r = report_new();
        for (int i = 0; i < N; i++) {
            u32 k = round == 0 ? (u32)i : round == 1 ? N - 1 - (u32)i : (u32)(i * 77 + round) % N;
            struct finding f = sample(k % 4, 32 * (k % 7), 1 + k % 20);
            struct place p = load_place;
            p.line = 1 + k % 5;
            f.place = &p;
            f.kind = k % 3 ? F_bounds : F_barrier_exited;
            f.cause_key = k % 2;
            char cause[40];
            snprintf(cause, sizeof cause, "thread %u of block %u", f.thread[0], f.cta[0]);
            f.cause = cause;
            report_add(r, &f);
        }
        struct text t = { 0 };
        report_text(r, (struct report_style){ 0 }, &t);
        report_json(&r, 1, &t);
        if (first)
            UNIT_EQ_STR(t.p, first);
        else
            UNIT_HAS(t.p, "20 findings: 10 errors, 10 notes");
        if (!first)
            first = t.p;
        else
            text_free(&t);
        UNIT(report_errors(r) == 10 && report_notes(r) == 10);
        report_free(r);
    }
    free(first);
}

static void source(void)
{
    char dir[] = "/tmp/lockstep-unit-XXXXXX", cu[64], ptx[64];
    if (!UNIT(mkdtemp(dir))) return;
    snprintf(cu, sizeof cu, "%s/add.cu", dir);
    snprintf(ptx, sizeof ptx, "%s/add.ptx", dir);
    const char *text = "__global__ void add()\n{\n\tc[i] = a[i + f(1)] + b[i];\n}\n";
    file_write(cu, text, strlen(text), NULL);
    struct place outer = { .file = "/build/add.cu", .line = 9, .col = 3, .ptx_file = ptx };
    struct place p = { .file = "/build/add.cu",
                       .line = 3,
                       .col = 9,
                       .function = "get",
                       .ptx_file = ptx,
                       .ptx_line = 555,
                       .inlined_at = &outer };
    struct finding f = sample(0, 0, 1);
    f.place = &p;
    struct report *r = report_new();
    report_add(r, &f);
    char *t = text_of(r), want[400];
    snprintf(want, sizeof want,
             " --> %s:3:9\n  |\n3 |  c[i] = a[i + f(1)] + b[i];\n  |         ^^^^^^^^^^^\n  = inlined from get at "
             "add.cu:9:3\n",
             cu);
    UNIT_HAS(t, want);
    free(t);
    struct place header = {
        .file = "atomic.hpp", .line = 77, .function = "atomicAdd", .ptx_file = ptx, .ptx_line = 555, .inlined_at = &p
    };
    UNIT(place_shown(&header) == &p); /* the header is not here: its caller is shown */
    struct text brief = { 0 };
    place_brief(&header, &brief);
    UNIT_EQ_STR(brief.p, "add.cu:3 (in get, called at :9)");
    text_free(&brief);
    report_clear(r);
    f.place = &header;
    report_add(r, &f);
    t = text_of(r);
    UNIT_HAS(t, "  = in atomicAdd (atomic.hpp:77)\n  = inlined from get at add.cu:9:3\n");
    free(t);
    struct text colored = { 0 };
    report_text(r, (struct report_style){ .color = true }, &colored);
    UNIT_HAS(colored.p, "\x1b[1;31merror[bounds]");
    text_free(&colored);
    report_free(r);
    unlink(cu);
    rmdir(dir);
}

static void json(void)
{
    struct report *r = report_new();
    struct finding f = sample(3, 232, 24);
    f.object_note = "say \"hi\"\n\x01\xff caf\xc3\xa9";
    report_add(r, &f);
    struct text t = { 0 };
    report_json(&r, 1, &t);
    UNIT_HAS(t.p, "{\"schema\":\"lockstep-report\",\"version\":2,\"verdict\":\"failed\",\"errors\":1,\"notes\":0,"
                  "\"occurrences\":24,");
    UNIT_HAS(t.p, "say \\\"hi\\\"\\n\\u0001\\ufffd caf\xc3\xa9");
    UNIT_HAS(t.p, "\"offset_min\":4000,\"offset_max\":4092,\"offset_step\":4");
    UNIT_HAS(t.p, "\"threads\":{\"min\":[232,0,0],\"max\":[255,0,0],\"step\":[1,0,0],\"count\":24,\"exact\":true}");
    text_free(&t);
    report_free(r);
}

static void *adder(void *arg)
{
    for (u32 i = 0; i < 2000; i++) add(arg, sample(i % 4, 32 * (i % 8), 32));
    return NULL;
}

static void threads(void)
{
    struct report *r = report_new();
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, adder, r);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    UNIT_EQ(report_occurrences(r), 3 * 2000 * 32);
    UNIT_EQ(report_errors(r), 1);
    report_free(r);
}

static void bounded(void)
{
    struct report *r = report_new();
    for (u32 i = 0; i < 5000; i++) {
        struct finding f = sample(0, 0, 1);
        f.cause_key = i;
        report_add(r, &f);
    }
    UNIT_EQ(report_errors(r), 4096);
    UNIT_EQ(report_occurrences(r), 5000);
    struct text t = { 0 };
    report_text(r, (struct report_style){ .max = 2 }, &t);
    UNIT_HAS(t.p,
             "4094 more not shown\n4096 findings: 4096 errors (5000 occurrences)\n904 occurrences of further causes");
    text_free(&t);
    report_free(r);
}

/* A value that nobody wrote, loaded at one line and used at another. */
static struct finding undefined(struct place *use, struct place *load, u32 value)
{
    *use = *load = load_place;
    use->line += 10 * value;
    load->line = use->line + 5;
    struct finding f = sample(0, 0, 1);
    f.kind = F_uninit_branch;
    f.place = use;
    f.origin = load;
    f.origin_text = "read from a, which was never written";
    f.cause_key = value;
    return f;
}

/* Thousands of roots, each found at three places; and as many accesses beside an object and in the next one. */
static void many(void)
{
    enum { VALUES = 700, BESIDE = 500 };
    struct report *r = report_new();
    struct place use, load;
    for (u32 place = 0; place < 3; place++)
        for (u32 i = 0; i < VALUES; i++) {
            struct finding f = undefined(&use, &load, i);
            use.line += place;
            report_add(r, &f);
        }
    for (u32 i = 0; i < BESIDE; i++) {
        struct finding f = sample(0, 0, 1);
        f.place = &use;
        use = load_place;
        use.line += 10 * i;
        report_add(r, &f);
        f.kind = F_bounds_neighbour;
        f.neighbour = "b";
        report_add(r, &f);
    }
    UNIT_EQ(report_errors(r), VALUES + BESIDE);
    UNIT_EQ(report_occurrences(r), 3 * VALUES + 2 * BESIDE);
    char *t = text_of(r);
    UNIT_HAS(t, "the same value is used at add.cu:8, add.cu:9\n");
    UNIT_HAS(t, "the same value is used at add.cu:6998, add.cu:6999\n");
    free(t);
    report_free(r);
}

/* Loads and stores of one line are one mistake, also where it is counted while some threads have not come to them. */
static void updates(void)
{
    struct report *r = report_new();
    struct place store = load_place;
    store.ptx_line++;
    store.col += 4;
    for (u32 cta = 2; cta < 4; cta++)
        for (u32 lane = 0; lane < 256; lane += 32) {
            struct finding f = sample(cta, lane, 32);
            report_add(r, &f);
            f.place = &store;
            f.access = "write";
            report_add(r, &f);
            UNIT_EQ(report_errors(r), 1);
        }
    UNIT_EQ(report_occurrences(r), 512);
    /* a store of the same line beyond what was loaded is another one */
    struct finding f = sample(3, 0, 32);
    for (u32 i = 0; i < 32; i++) f.addr[i] += 4 * 256;
    f.place = &store;
    f.access = "write";
    report_add(r, &f);
    UNIT_EQ(report_errors(r), 2);
    report_free(r);
}

/* The first rule of the file that holds is the one that is used, whether it names a line or not. */
static void rules(void)
{
    static const struct {
        const char *text, *unused;
    } t[] = {
        { "bounds at=add.cu:7\nbounds\n", "f:2\n" },
        { "bounds\nbounds at=add.cu:7\n", "f:2\n" },
        { "bounds at=add.cu:8\nbounds at=other.cu:7\nbounds at=add.ptx:57\nbounds at=add.cu:7\n", "f:1\nf:2\nf:4\n" },
        { "bounds kernel=sub\nbounds function=a?d variable=a\nbounds kernel=add\n", "f:1\nf:3\n" },
    };
    for (u32 i = 0; i < COUNT_OF(t); i++) {
        struct report *r = report_new();
        struct error e = { 0 };
        struct text unused = { 0 };
        UNIT_EQ(report_suppress(r, "f", str_of(t[i].text), &e), true);
        for (u32 key = 0; key < 3; key++) {
            struct finding f = sample(0, 0, 1);
            f.cause_key = key;
            report_add(r, &f);
        }
        UNIT_EQ(report_suppressed(r), 3);
        report_unused(r, &unused);
        UNIT_EQ_STR(unused.p, t[i].unused);
        text_free(&unused);
        report_free(r);
    }
}

int main(void)
{
    many();
    updates();
    rules();
    one();
    who();
    what();
    joined();
    order();
    source();
    json();
    threads();
    bounded();
    UNIT_EQ(finding_find("misaligned"), F_misaligned);
    UNIT_EQ(finding_find("nothing"), F_COUNT);
    return unit_done();
}
