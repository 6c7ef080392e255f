/* lockstep_lab.h and lockstep_times.h, given what is wrong: handles that are none, of another kind or ended, NULL in
 * place of texts, lists and results, counts that are not true; and the processes of lab, given bytes that nobody meant.
 * Each is a named error, and none an access out of bounds: for AddressSanitizer, too. */
#include "unit.h"
#include "lab/side.h"
#include "record/record.h"
#include <ctype.h>
#include <fcntl.h>
#include <lockstep.h>
#include <lockstep_lab.h>
#include <lockstep_times.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry add(.param .u64 x)\n{\n"
                          " .reg .b64 %rd<3>;\n .reg .b32 %r<3>;\n ld.param.u64 %rd1, [x];\n"
                          " atom.global.add.u32 %r1, [%rd1], 1;\n ret;\n}\n";
static const char contract_text[] = "//! kernel add\n//! dim n 1..9 = 4\n//! arg x u32[n] inout ones\n";
static char recorded[64], tested[1024];

struct handles {
    lk_gpu *gpu;
    lk_contract *contract;
    lk_oracle *oracle;
    lk_recording *recording;
    lk_test *test;
};

static void record(void)
{
    lk_gpu *gpu = NULL;
    lk_module *m = NULL;
    uint64_t x = 0;
    snprintf(recorded, sizeof recorded, "/tmp/lockstep-lab-%ld.rec", (long)getpid());
    UNIT(lk_gpu_create(NULL, &gpu) == LK_OK);
    UNIT(lk_module_load(gpu, "add.ptx", ptx, sizeof ptx - 1, &m) == LK_OK);
    UNIT(lk_memory_alloc(gpu, 4, LK_MEMORY_DEVICE, "x", &x) == LK_OK);
    const void *args[] = { &x };
    lk_launch l = { .size = sizeof l, .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .args = args, .arg_count = 1 };
    UNIT(lk_record(lk_module_kernel(m, "add"), &l, recorded) == LK_OK);
    lk_kernel_launch(lk_module_kernel(m, "add"), &l, NULL); /* that is written then, at the latest */
    lk_gpu_destroy(gpu);
}

static void handles_make(struct handles *h)
{
    lk_test_options o = { .size = sizeof o, .cases = 2, .kernel = "sum_atomic", .corpus = "/dev/null" };
    UNIT(lk_gpu_create(NULL, &h->gpu) == LK_OK);
    UNIT(lk_contract_read(h->gpu, "add.cu", contract_text, sizeof contract_text - 1, &h->contract) == LK_OK);
    UNIT((h->oracle = lk_oracle_new(NULL, 0)) != NULL);
    UNIT(lk_recording_open(recorded, &h->recording) == LK_OK);
    UNIT(lk_test_file(h->gpu, tested, &o, &h->test) == LK_OK);
}

static void handles_end(const struct handles *h)
{
    lk_oracle_free(h->oracle);
    lk_recording_close(h->recording);
    lk_test_free(h->test);
    UNIT(lk_contract_free(h->contract) == LK_OK);
    UNIT(lk_gpu_destroy(h->gpu) == LK_OK);
}

/* ---- handles ---- */

#define CALLS(X)                                                                        \
    X(lk_oracle_free, 1, H(0, oracle))                                                  \
    X(lk_oracle_accumulate, 1, H(0, oracle), "f32")                                     \
    X(lk_oracle_read, 1, H(0, oracle), "y = 1")                                         \
    X(lk_oracle_evaluate, 1, H(0, oracle))                                              \
    X(lk_oracle_output, 1, H(0, oracle), 0, OUT)                                        \
    X(lk_oracle_why, 1, H(0, oracle), 0, 0, OUT, 1)                                     \
    X(lk_oracle_accumulates, 1, H(0, oracle))                                           \
    X(lk_oracle_error, 1, H(0, oracle))                                                 \
    X(lk_contract_oracle_read, 1, H(0, contract))                                       \
    X(lk_test_file, 1, H(0, gpu), "x", NULL, OUT)                                       \
    X(lk_test_undone, 1, H(0, gpu), "x", LK_BAD_INPUT, NULL, OUT)                       \
    X(lk_test_conclude, 2, (lk_test *const[]){ any.test, H(0, test) }, 2, 0, H(1, gpu)) \
    X(lk_test_disbelieved, 1, H(0, test))                                               \
    X(lk_test_why, 1, H(0, test))                                                       \
    X(lk_test_free, 1, H(0, test))                                                      \
    X(lk_test_kernel_at, 1, H(0, test), 0, OUT)                                         \
    X(lk_test_case_at, 1, H(0, test), 0, 0, OUT)                                        \
    X(lk_test_failure_at, 1, H(0, test), 0, 0, OUT)                                     \
    X(lk_test_path, 1, H(0, test))                                                      \
    X(lk_test_json, 2, (lk_test *const[]){ any.test, H(0, test) }, 2, H(1, gpu))        \
    X(lk_test_junit, 2, (lk_test *const[]){ any.test, H(0, test) }, 2, H(1, gpu))       \
    X(lk_recording_close, 1, H(0, recording))                                           \
    X(lk_recording_text, 1, H(0, recording))                                            \
    X(lk_recording_seed, 1, H(0, recording))                                            \
    X(lk_recording_run, 2, H(0, recording), H(1, gpu))                                  \
    X(lk_recording_difference, 1, H(0, recording))                                      \
    X(lk_recording_shrink, 1, H(0, recording), (&(lk_options){ .size = 8 }), OUT)       \
    X(lk_recording_save, 1, H(0, recording), "/dev/null")                               \
    X(lk_recording_c, 1, H(0, recording))

static struct handles any, ended;
static _Alignas(16) char out[8192];
static uint64_t on_stack[32];
static int at;
static enum wrong { WRONG_NULL, WRONG_LOW, WRONG_HIGH, WRONG_STACK, WRONG_INSIDE, WRONG_KIND, WRONG_ENDED, WRONGS } is;

static void *pick(int i, void *right, void *was, void *other)
{
    void *const given[WRONGS] = { NULL,     (void *)(uintptr_t)0x10, (void *)(uintptr_t)0xdeadbeefdeadbeefu,
                                  on_stack, (char *)right + 8,       other,
                                  was };
    return i == at ? given[is] : right;
}

#define OUT ((void *)out)
#define H(i, kind) pick(i, any.kind, ended.kind, strcmp(#kind, "oracle") ? (void *)any.oracle : (void *)any.gpu)

static bool ends(const char *name)
{
    size_t n = strlen(name);
    return !strcmp(name + n - 5, "_free") || !strcmp(name + n - 6, "_close");
}

static void case_end(const char *name, int i)
{
    static const char *const text[WRONGS] = { "is given", "is no ", "is no ", "is no ", "is no ", " is ", "has ended" };
    const char *a = lk_gpu_error(NULL), *b = lk_gpu_error(any.gpu);
    char head[80];
    snprintf(head, sizeof head, "%s: ", name);
    const char *said = !strncmp(a, head, strlen(head)) ? a : b;
    if (!unit_check(!strncmp(said, head, strlen(head)) && strstr(said, text[is]), __FILE__, __LINE__, name))
        fprintf(stderr, "  handle %d, wrong %d: \"%s\" and \"%s\"\n", i, (int)is, a, b);
}

static void handles(void)
{
    handles_make(&any);
    handles_make(&ended);
    handles_end(&ended);
#define CALLED(name, n, ...)                               \
    for (at = 0; at < (n); at++)                           \
        for (is = WRONG_NULL; is < WRONGS; is++) {         \
            if (is == WRONG_NULL && ends(#name)) continue; \
            lk_gpu_create(NULL, NULL); /* another text */  \
            (void)name(__VA_ARGS__);                       \
            case_end(#name, at);                           \
        }
    CALLS(CALLED)
    lk_oracle_free(NULL);
    lk_test_free(NULL);
    lk_recording_close(NULL);
    at = -1;
    handles_end(&any); /* nothing of it has gone by mistake */
}

/* Each function of the header that takes a handle is in the table. */
static void table_is_whole(void)
{
    static const char *const called[] = {
#define NAME(name, ...) #name,
        CALLS(NAME)
    };
    static const char *const types[] = { "lk_oracle *", "lk_test *", "lk_recording *", "lk_gpu *", "lk_contract *" };
    char path[1024];
    struct str all;
    u32 functions = 0;
    struct error e = { 0 };
    snprintf(path, sizeof path, "%.*s../../include/lockstep_lab.h", (int)(strrchr(__FILE__, '/') + 1 - __FILE__),
             __FILE__);
    if (!UNIT(file_read(path, &all, &e))) return;
    for (const char *p = all.p; (p = strstr(p, "lk_")) != NULL;) {
        size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz_");
        const char *name = p, *open = p + n, *close = *open == '(' ? strstr(open, ");") : NULL;
        bool takes = false, there = false;
        p = open;
        for (size_t k = 0; close && k < COUNT_OF(types); k++) {
            const char *type = strstr(open, types[k]);
            takes |= type && type < close && isalpha((unsigned char)type[strlen(types[k])]);
        }
        for (size_t k = 0; k < COUNT_OF(called); k++) there |= strlen(called[k]) == n && !strncmp(called[k], name, n);
        if (!takes || !strchr("\n *", name[-1]) || !strncmp(name - 3, " * ", 3) || !strncmp(name, "lk_gpu_error(", 13))
            continue;
        functions++;
        if (!unit_check(there, __FILE__, __LINE__, "in the table")) fprintf(stderr, "  %.*s\n", (int)n, name);
    }
    UNIT_EQ(functions, COUNT_OF(called));
    base_free((void *)all.p);
}

/* ---- what else a caller can get wrong ---- */

#define REFUSED(call, words) (lk_gpu_create(NULL, NULL), UNIT(!(call)), UNIT_HAS(lk_gpu_error(NULL), words))
#define BAD(call, words) (lk_gpu_create(NULL, NULL), UNIT((call) == LK_BAD_INPUT), UNIT_HAS(lk_gpu_error(NULL), words))

static void oracle_without(void)
{
    lk_oracle *o = lk_oracle_new(NULL, 0);
    lk_oracle_result r;
    lk_oracle_term t[4];
    double one[1] = { 1 };
    lk_oracle_name nameless = { .type = "f64", .rank = 1, .dim = { 1 }, .data = one }, dataless = nameless;
    dataless.name = "x";
    dataless.data = NULL;
    REFUSED(lk_oracle_new(NULL, 5), "lk_oracle_new: no list of names is given");
    REFUSED(lk_oracle_new(&nameless, 1), "lk_oracle_new: no name is given");
    UNIT(!lk_oracle_new(&dataless, 1));
    BAD(lk_oracle_read(o, NULL), "lk_oracle_read: no text is given");
    BAD(lk_oracle_accumulate(o, NULL), "lk_oracle_accumulate: no text is given");
    UNIT(!lk_oracle_output(o, 0, &r) && !lk_oracle_why(o, 0, 0, t, 4)); /* nothing was evaluated yet */
    UNIT(lk_oracle_read(o, "y = 1 + 1") == LK_OK && lk_oracle_evaluate(o) == LK_OK);
    UNIT(lk_oracle_output(o, 0, &r) && r.value[0] == 2);
    UNIT(!lk_oracle_output(o, 99, &r) && !lk_oracle_output(o, UINT32_MAX, &r));
    REFUSED(lk_oracle_output(o, 0, NULL), "lk_oracle_output: no place for the result is given");
    UNIT(!lk_oracle_why(o, 0, UINT64_MAX, t, 4) && !lk_oracle_why(o, UINT32_MAX, 0, t, 4));
    UNIT(lk_oracle_why(o, 0, 0, t, UINT32_MAX) <= 4); /* `most` is no size of what is allocated */
    REFUSED(lk_oracle_why(o, 0, 0, NULL, 4), "lk_oracle_why: no list of terms is given");
    UNIT(lk_oracle_read(o, "z = 2") == LK_OK && lk_oracle_evaluate(o) == LK_OK && lk_oracle_output(o, 1, &r));
    REFUSED(lk_oracle_row(0, NULL), "lk_oracle_row: no place for the row is given");
    lk_oracle_free(o);
}

/* Thirty definitions, each of so many brackets around the one before: what a text may be at most, or nearly. */
static const char *deep_text(void)
{
    enum { DEPTH = 90, DEFINITIONS = 30 };
    static char text[DEFINITIONS * (2 * DEPTH + 40)];
    size_t n = 0;
    for (int d = 0; d < DEFINITIONS; d++) {
        n += (size_t)sprintf(text + n, "def f%d(x) = ", d);
        for (int i = 0; i < DEPTH; i++) text[n++] = '(';
        n += (size_t)(d ? sprintf(text + n, "f%d(x) + 1", d - 1) : sprintf(text + n, "x + 1"));
        for (int i = 0; i < DEPTH; i++) text[n++] = ')';
        text[n++] = ';';
    }
    sprintf(text + n, "y = f%d(1)", DEFINITIONS - 1);
    return text;
}

static void *read_deep(void *is)
{
    lk_oracle *o = lk_oracle_new(NULL, 0);
    *(lk_status *)is = lk_oracle_read(o, deep_text());
    if (!*(lk_status *)is) *(lk_status *)is = lk_oracle_evaluate(o);
    if (*(lk_status *)is) UNIT_HAS(lk_oracle_error(o), "too deep for a thread with");
    lk_oracle_free(o);
    return NULL;
}

/* A caller's thread may have as little stack as it likes: what does not fit is said. */
static void oracle_on_little_stack(void)
{
    static const size_t size[] = { 96 << 10, 160 << 10, 256 << 10, 8 << 20 };
    for (u32 i = 0; i < COUNT_OF(size); i++) {
        pthread_attr_t a;
        pthread_t thread;
        lk_status is = LK_OK;
        pthread_attr_init(&a);
        pthread_attr_setstacksize(&a, size[i]);
        UNIT(!pthread_create(&thread, &a, read_deep, &is) && !pthread_join(thread, NULL));
        UNIT(is == LK_OK || (is == LK_BAD_INPUT && i < 3));
        pthread_attr_destroy(&a);
    }
}

static void recording_without(void)
{
    lk_recording *r = NULL;
    lk_gpu *gpu = NULL;
    char closed[16], *text;
    BAD(lk_recording_open(NULL, &r), "lk_recording_open: no path is given");
    BAD(lk_recording_open(recorded, NULL), "lk_recording_open: no place for the recording is given");
    UNIT(lk_recording_open("/dev/null", &r) == LK_BAD_INPUT && !r);
    UNIT(lk_recording_open(recorded, &r) == LK_OK);
    BAD(lk_recording_save(r, NULL), "lk_recording_save: no path is given");
    BAD(lk_recording_shrink(r, NULL, NULL), "lk_recording_shrink: no set of options is given");
    BAD(lk_recording_shrink(r, &(lk_options){ .size = 0 }, NULL), "lk_options.size is 0");
    UNIT(lk_recording_shrink(r, &(lk_options){ .size = sizeof(lk_options) }, NULL) == LK_OK);
    lk_options unset;
    memset(&unset, 0xff, sizeof unset);
    BAD(lk_recording_shrink(r, &unset, NULL), "the size of the options is 18446744073709551615: zero the struct");
    BAD(lk_gpu_create(&unset, &gpu), "zero the struct, then set its size");
    UNIT(!lk_recording_difference(r));
    UNIT(lk_gpu_create(NULL, &gpu) == LK_OK && lk_recording_run(r, gpu) == LK_OK && lk_recording_run(r, gpu) == LK_OK);
    UNIT((text = lk_recording_difference(r)) != NULL && !text[0]);
    lk_text_free(text);
    lk_gpu_destroy(gpu);
    snprintf(closed, sizeof closed, "%s", "closed");
    lk_recording_close(r);
    REFUSED(lk_recording_text(r), "lk_recording_text: the recording that is given has ended, by lk_recording_close: no "
                                  "call may be given it any more; set the variable to NULL where it ends");
}

static void test_without(void)
{
    lk_gpu *gpu = NULL;
    lk_test *t = NULL;
    lk_test_kernel k;
    lk_test_case c;
    lk_test_failure f;
    struct { /* of a caller that knows fewer fields: what lies behind them is no part of them */
        size_t size;
        char rest[sizeof(lk_test_options)];
    } old = { .size = offsetof(lk_test_options, only) };
    UNIT(lk_gpu_create(NULL, &gpu) == LK_OK);
    memset(old.rest, 0xff, sizeof old.rest);
    lk_test_options few = { .size = sizeof few, .kernel = "sum_atomic", .cases = 2 };
    memcpy((char *)&old + sizeof old.size, (char *)&few + sizeof few.size, old.size - sizeof old.size);
    UNIT(lk_test_file(gpu, NULL, NULL, &t) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(gpu), "lk_test_file: no path is given");
    UNIT(lk_test_file(gpu, tested, NULL, NULL) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(gpu), "lk_test_file: no place for the test is given");
    UNIT(lk_test_file(gpu, tested, (lk_test_options *)(void *)&old, &t) == LK_OK);
    UNIT(lk_test_kernel_at(t, 0, &k) && k.cases == 2 && !lk_test_kernel_at(t, 9, &k));
    UNIT(lk_test_case_at(t, 0, 1, &c) && !lk_test_case_at(t, 0, 2, &c) && !lk_test_case_at(t, 9, 0, &c));
    UNIT(!lk_test_failure_at(t, 0, 0, &f) && !lk_test_failure_at(t, UINT32_MAX, UINT32_MAX, &f));
    REFUSED(lk_test_kernel_at(t, 0, NULL), "lk_test_kernel_at: no place for the kernel is given");
    REFUSED(lk_test_case_at(t, 0, 0, NULL), "lk_test_case_at: no place for the case is given");
    REFUSED(lk_test_failure_at(t, 0, 0, NULL), "lk_test_failure_at: no place for the failure is given");
    REFUSED(lk_test_json(NULL, 3, gpu), "lk_test_json: no list of tests is given");
    REFUSED(lk_test_junit(NULL, 3, gpu), "lk_test_junit: no list of tests is given");
    char *none = lk_test_json(NULL, 0, gpu);
    UNIT_HAS(none, "\"files\":[]");
    lk_text_free(none);
    lk_test_free(t);
    lk_gpu_destroy(gpu);
}

static void times_without(void)
{
    double v[8] = { 1, 2, NAN, INFINITY, -1, 0, 1e308, 5e-324 };
    lk_series few[3] = { { v, 8 }, { NULL, 0 }, { v, 1 } }, none[1] = { { NULL, 5 } };
    lk_times t = { "x", few, few, 3 }, listless = { "x", NULL, NULL, 5 }, empty = { "x", none, none, 1 };
    lk_times_options o;
    lk_judgement j[2];
    memset(&o, 0xff, sizeof o);
    lk_times_judge(&t, 1, &o, j);
    o.size = sizeof o.size + 3; /* half a field */
    lk_times_judge(&t, 1, &o, j);
    lk_times_judge(&listless, 1, NULL, j);
    UNIT(j[0].verdict == LK_INVALID);
    UNIT_HAS(j[0].why, "a side has no list of series");
    lk_times_judge(&empty, 1, NULL, j);
    UNIT(j[0].verdict == LK_INVALID);
    UNIT_HAS(j[0].why, "a series has no samples, and says that it has some");
    lk_times_judge(NULL, 2, NULL, j);
    UNIT(j[1].verdict == LK_INVALID);
    UNIT_HAS(j[1].why, "there is no list of times");
    lk_times_judge(&t, 1, NULL, NULL);
    lk_times_judge(NULL, 0, NULL, NULL);
    UNIT(!lk_times_enough(NULL, NULL) && !lk_times_enough(NULL, &o));
    UNIT_EQ(lk_series_warmup(none[0], 0.1), 0);
    UNIT(lk_series_quantile(none[0], 0.5) == 0 && lk_series_quantile(few[0], NAN) == 0);
    UNIT_EQ_STR(lk_verdict_name((lk_verdict)99), "?");
    UNIT_EQ(lk_verdict_exit((lk_verdict)-5), 2);
}

/* ---- the processes of lab ---- */

static lk_status serve(const void *bytes, size_t n)
{
    int in[2], sink = open("/dev/null", O_WRONLY);
    UNIT(!pipe2(in, O_CLOEXEC));
    fcntl(in[1], F_SETPIPE_SZ, 1 << 20);
    UNIT(write(in[1], bytes, n) == (ssize_t)n);
    close(in[1]);
    lk_status s = lk_test_serve(in[0], sink);
    close(in[0]);
    close(sink);
    return s;
}

/* Bytes that are no subject; a subject of which one is another; questions that are none. */
static void worker(void)
{
    static const u8 ends_[] = { 0, 1, 7, 127, 128, 255 };
    u8 bytes[4096];
    struct text good = { 0 };
    struct lab_subject s = { .path = "add.cu", .kernel = "add", .text = { contract_text, sizeof contract_text - 1 } };
    UNIT(lk_test_serve(-1, -1) == LK_BAD_INPUT);
    for (int b = 0; b < 256; b += 51) {
        memset(bytes, b, sizeof bytes);
        UNIT(serve(bytes, sizeof bytes) == LK_BAD_INPUT);
    }
    subject_put(&good, &s);
    UNIT(serve(good.p, good.n) == LK_OK);
    for (size_t i = 0; i < good.n; i++)
        for (u32 k = 0; k < COUNT_OF(ends_); k++) {
            char was = good.p[i];
            good.p[i] = (char)ends_[k];
            lk_status status = serve(good.p, good.n);
            if (status != LK_OK && status != LK_BAD_INPUT) UNIT(!"the worker says what it was given");
            good.p[i] = was;
        }
    struct text asked = { 0 };
    memset(bytes, 0xff, sizeof bytes);
    text_put(&asked, good.p, good.n);
    text_put(&asked, (char *)bytes, sizeof bytes);
    UNIT(serve(asked.p, asked.n) == LK_OK);
    asked.n = good.n;
    struct question q = { .mark = SIDE_MARK, .line = UINT32_MAX, .excepts = UINT32_MAX };
    text_put(&asked, (char *)&q, sizeof q);
    UNIT(serve(asked.p, asked.n) == LK_OK);
    text_free(&asked);
    text_free(&good);
}

/* What the process of a C function says to a question; the function is one of libm, and is never called. */
static int ask_reference(const u32 *word, size_t words)
{
    int pair[2], status = -1;
    UNIT(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        close(pair[0]);
        dup2(pair[1], 3);
        _exit(lk_reference_serve("libm.so.6", "cos"));
    }
    close(pair[1]);
    UNIT(file_put(pair[0], word, words * sizeof *word));
    shutdown(pair[0], SHUT_WR);
    waitpid(child, &status, 0);
    close(pair[0]);
    return status;
}

static void reference(void)
{
    enum { MAGIC = 0x316b6c6f, ASK = 2 };
    BAD(lk_reference_serve(NULL, "cos"), "lk_reference_serve: no path is given");
    BAD(lk_reference_serve("libm.so.6", NULL), "lk_reference_serve: no name of the function is given");
    const u32 many[] = { MAGIC, ASK, 8, 0, UINT32_MAX };
    UNIT_EQ(ask_reference(many, COUNT_OF(many)), 0);
    const u32 named[] = { MAGIC, ASK, 8, 0, 1, UINT32_MAX, 1, 0 };
    UNIT_EQ(ask_reference(named, COUNT_OF(named)), 0);
    const u32 large[] = { MAGIC, ASK, 8, 0, 1, 0, 2, 2, 0, 1u << 31, 0, 1u << 31 }; /* 2^63 times 2^63 elements */
    UNIT_EQ(ask_reference(large, COUNT_OF(large)), 0);
    const u32 other[] = { ~MAGIC, ASK, 8, 0, 0 };
    UNIT_EQ(ask_reference(other, COUNT_OF(other)), 0);
}

int main(void)
{
    snprintf(tested, sizeof tested, "%.*s../cases/lab/legal.cu", (int)(strrchr(__FILE__, '/') + 1 - __FILE__),
             __FILE__);
    record();
    handles();
    table_is_whole();
    oracle_without();
    oracle_on_little_stack();
    recording_without();
    test_without();
    times_without();
    worker();
    reference();
    unlink(recorded);
    return unit_done();
}
