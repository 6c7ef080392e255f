/* The process that times a kernel: opens it by its contract, makes the arrays of a case, and answers questions, a line
 * of JSON each. Nothing else in it may write to standard output. */
#include "bench/bench_worker.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const bench_mode_name[BENCH_MODES] = { "warm",      "cold",         "issue",      "launch", "in pageable",
                                                   "in pinned", "out pageable", "out pinned", "whole" };

bool bench_mode_find(const char *name, enum bench_mode *out)
{
    for (u32 i = 0; i < BENCH_MODES; i++)
        if (!strcmp(name, bench_mode_name[i])) {
            *out = (enum bench_mode)i;
            return true;
        }
    return false;
}

bool worker_refused(const struct bench_worker *w, struct error *e)
{
    return error_set(e, ERR_INPUT, "%.700s", lk_gpu_error(w->gpu));
}

static void drop_case(struct bench_worker *w)
{
    worker_close_graph(w);
    worker_close_timing(w);
    for (u32 i = 0; i < w->args; i++) {
        if (w->arg[i].address) lk_memory_free(w->gpu, w->arg[i].address);
        base_free(w->arg[i].host);
    }
    memset(w->arg, 0, sizeof w->arg);
    w->args = 0;
    if (w->contract) lk_contract_free(w->contract);
    w->contract = NULL;
}

static void close_kernel(struct bench_worker *w)
{
    if (w->gpu) drop_case(w);
    if (w->module) lk_module_unload(w->module);
    w->module = NULL;
    base_free((void *)w->text.p);
    w->text = (struct str){ 0 };
}

/* ---- the kernel ---- */

/* Which block of the contract speaks of the kernel: by its name without template arguments. */
static bool find_block(struct bench_worker *w, struct error *e)
{
    lk_contract *c;
    const char *name;
    u32 found = 0;
    if (lk_contract_read(w->gpu, w->file, w->text.p, w->text.n, &c) != LK_OK) return worker_refused(w, e);
    for (u32 i = 0; (name = lk_contract_kernel(c, i)); i++) {
        size_t n = strcspn(name, "<");
        if (w->kernel && strcmp(w->kernel, name) && (strlen(w->kernel) != n || strncmp(w->kernel, name, n))) continue;
        if (found++) continue;
        w->block = i;
        w->usual = arena_str(&w->mem, str_of(name));
    }
    lk_contract_free(c);
    if (found == 1 || (found && w->kernel)) return true;
    if (!found && !w->kernel)
        return error_set(e, ERR_INPUT, "%s has no contract: //! lines say how its kernels are called", w->file);
    if (!found) return error_set(e, ERR_INPUT, "%s has no contract of a kernel `%.80s`", w->file, w->kernel);
    return error_set(e, ERR_INPUT, "%s has contracts of %u kernels: name one, as in %s:%s", w->file, found, w->file,
                     w->usual);
}

static void read_flags(struct bench_worker *w, const struct json_value *v)
{
    const struct json_value *flag = json_get(v, "flags");
    w->compile = (lk_compile){ .size = sizeof w->compile };
    if (json_string(v, "compiler")[0]) w->compile.compiler = arena_str(&w->mem, str_of(json_string(v, "compiler")));
    if (json_string(v, "arch")[0]) w->compile.arch = arena_str(&w->mem, str_of(json_string(v, "arch")));
    if (!flag || flag->kind != JSON_ARRAY) return;
    const char **list = NEW_ARRAY(&w->mem, const char *, flag->n + 1);
    for (u32 i = 0; i < flag->n; i++)
        if (flag->item[i].kind == JSON_TEXT) list[w->compile.flags++] = arena_str(&w->mem, flag->item[i].text);
    w->compile.flag = list;
}

static bool open_kernel(struct bench_worker *w, const struct json_value *v, struct json *answer, struct error *e)
{
    lk_gpu_info info = { .size = sizeof info };
    const char *device = json_string(v, "device");
    lk_options o = { .size = sizeof o, .on = json_string(v, "on"), .budget = json_whole(v, "budget") };
    bool real = strncmp(o.on, "gpu", 3) == 0;
    o.device = device[0] ? device : NULL;
    o.profile = !real && json_whole(v, "count");
    if (!real && o.profile) o.no_check = "all";
    w->file = arena_str(&w->mem, str_of(json_string(v, "file")));
    w->kernel = json_string(v, "kernel")[0] ? arena_str(&w->mem, str_of(json_string(v, "kernel"))) : NULL;
    read_flags(w, v);
    close_kernel(w); /* a process may be asked for one kernel after the other */
    if (!w->gpu && lk_gpu_create(&o, &w->gpu) != LK_OK)
        return error_set(e, ERR_UNSUPPORTED, "%.500s", lk_gpu_error(NULL));
    if (!file_read(w->file, &w->text, e) || !find_block(w, e)) return false;
    if (!w->stream &&
        (lk_stream_create(w->gpu, LK_STREAM_NON_BLOCKING, 0, &w->stream) != LK_OK ||
         lk_event_create(w->gpu, 0, &w->event[0]) != LK_OK || lk_event_create(w->gpu, 0, &w->event[1]) != LK_OK))
        return worker_refused(w, e);
    if (lk_gpu_properties(w->gpu, &info) != LK_OK) return worker_refused(w, e);
    json_text(answer, "gpu", info.name);
    json_number(answer, "arch", info.arch);
    return true;
}

/* Compiles as the contract says under the choices of the case, and then as the command line says. */
static bool load_module(struct bench_worker *w, struct error *e)
{
    const char *name = lk_contract_kernel(w->contract, w->block), *words = lk_contract_flags(w->contract, w->block);
    char *key = arena_printf(&w->mem, "%s %s", name, words);
    lk_compile o = w->compile;
    VEC(const char *) flag = { 0 };
    if (w->module && !strcmp(key, w->module_key)) return true;
    if (w->module) lk_module_unload(w->module);
    w->module = NULL;
    for (const char *p = words; *(p += strspn(p, " \t"));) {
        size_t n = strcspn(p, " \t");
        VEC_PUSH(&w->mem, &flag, arena_str(&w->mem, (struct str){ p, (u32)n }));
        p += n;
    }
    u32 own = flag.n;
    for (u32 i = 0; i < o.flags; i++) VEC_PUSH(&w->mem, &flag, o.flag[i]);
    o.flag = flag.p;
    o.flags = flag.n;
    o.own = strchr(name, '<') ? 0 : own;
    if (strchr(name, '<')) o.name = &name, o.names = 1;
    if (lk_module_compile(w->gpu, w->file, &o, &w->module) != LK_OK) {
        const char *log = lk_gpu_log(w->gpu);
        return error_set(e, ERR_INPUT, "%.400s%s%.300s", lk_gpu_error(w->gpu), log[0] ? ": " : "", log);
    }
    w->module_key = key;
    return true;
}

/* ---- the arrays ---- */

static bool file_into(const char *path, void *to, u64 bytes, struct error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && file_get(fd, to, bytes);
    if (fd >= 0) close(fd);
    return ok || error_set(e, ERR_INPUT, "%.200s: it is not there, or shorter than the array", path);
}

static bool file_from(const char *path, const void *from, u64 bytes, struct error *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && file_put(fd, from, bytes);
    if (fd >= 0) close(fd);
    return ok || error_set(e, ERR_SYSTEM, "%.200s cannot be written: is the disk full?", path);
}

/* Contents: made here, or those that another process has made. Outputs hold bytes that are no number. */
static bool fill_array(struct bench_worker *w, u32 i, const char *folder, bool make, struct error *e)
{
    struct worker_array *a = &w->arg[i];
    char *path = arena_printf(&w->asked, "%s/in.%s", folder, a->is.name);
    u64 before = a->bytes - a->is.bytes;
    memset(a->host, 0xff, a->is.filled ? before : a->bytes);
    if (a->is.filled && (make || !folder[0])) {
        if (lk_contract_fill(w->contract, i, 0, a->host + before) != LK_OK) return worker_refused(w, e);
        if (folder[0] && !file_from(path, a->host, a->bytes, e)) return false;
    } else if (a->is.filled && !file_into(path, a->host, a->bytes, e)) {
        return false;
    }
    return lk_memory_write(w->gpu, a->address, a->host, a->bytes) == LK_OK || worker_refused(w, e);
}

static u32 type_bytes(const char *type)
{
    const char *digits = type + strcspn(type, "0123456789");
    u32 bits = !strncmp(type, "bool", 4) ? 8 : (u32)strtoul(digits, NULL, 10);
    return bits >= 8 ? bits / 8 : 1;
}

static bool make_argument(struct bench_worker *w, u32 i, const char *folder, bool make, struct error *e)
{
    struct worker_array *a = &w->arg[i];
    if (lk_contract_argument(w->contract, i, &a->is) != LK_OK) return worker_refused(w, e);
    w->pointer[i] = a->value;
    if (a->is.kind != LK_ARGUMENT_BUFFER) {
        if (a->is.bytes > sizeof a->value)
            return error_set(e, ERR_UNSUPPORTED, "%s has %" PRIu64 " bytes; bench passes at most %zu", a->is.name,
                             a->is.bytes, sizeof a->value);
        return lk_contract_fill(w->contract, i, 0, a->value) == LK_OK || worker_refused(w, e);
    }
    w->pointer[i] = &a->pointer;
    if (a->is.same >= 0) {
        a->pointer = w->arg[a->is.same].pointer;
        return true;
    }
    if (!a->is.bytes) return true;
    a->bytes = a->is.bytes + a->is.offset * type_bytes(a->is.type);
    a->host = base_alloc(a->bytes);
    if (!a->host) return error_set(e, ERR_MEMORY, "no memory for %s", a->is.name);
    if (lk_memory_alloc(w->gpu, a->bytes, LK_MEMORY_DEVICE, a->is.name, &a->address) != LK_OK)
        return worker_refused(w, e);
    a->pointer = a->address + a->is.offset * type_bytes(a->is.type);
    return fill_array(w, i, folder, make, e);
}

/* One launch, its outputs read back: elements that still hold what they held before were never written. */
static bool first_launch(struct bench_worker *w, const char *folder, bool save, struct json *answer, struct error *e)
{
    u64 unwritten = 0;
    lk_status status = lk_kernel_launch(w->k, &w->launch, NULL);
    if (status != LK_OK && status != LK_FINDINGS) return worker_refused(w, e);
    if (lk_report_errors(w->gpu)) {
        char *report = lk_report_text(w->gpu, 0);
        const char *at = report ? strstr(report, "error[") : NULL, *cause = at ? strstr(at, "= cause: ") : NULL;
        const char *from = cause ? cause + 9 : at ? at : "it has findings";
        error_set(e, ERR_NOTHING, "not timed: %.*s", (int)strcspn(from, "\n"), from);
        lk_text_free(report);
        return false;
    }
    for (u32 i = 0; save && i < w->args; i++) {
        struct worker_array *a = &w->arg[i];
        if (!a->address || a->is.flow == LK_FLOW_IN) continue;
        u8 *out = base_alloc(a->bytes);
        if (!out) return error_set(e, ERR_MEMORY, "no memory for %s", a->is.name);
        bool ok = lk_memory_read(w->gpu, a->address, out, a->bytes) == LK_OK || worker_refused(w, e);
        u32 size = type_bytes(a->is.type);
        for (u64 at = 0; ok && a->is.flow == LK_FLOW_OUT && strchr(a->is.type, 'f') && at + size <= a->bytes;
             at += size) {
            u32 k = 0;
            while (k < size && out[at + k] == 0xff) k++;
            unwritten += k == size;
        }
        if (ok && folder[0]) ok = file_from(arena_printf(&w->asked, "%s/out.%s", folder, a->is.name), out, a->bytes, e);
        base_free(out);
        if (!ok) return false;
    }
    if (unwritten)
        return error_set(e, ERR_NOTHING, "not timed: %" PRIu64 " elements of its outputs were never written",
                         unwritten);
    json_bool(answer, "written", save);
    return true;
}

/* ---- what is said of a case ---- */

static const char *flow_name(lk_flow f) { return f == LK_FLOW_IN ? "in" : f == LK_FLOW_OUT ? "out" : "inout"; }

/* Those that there are: an element that is repeated, with a stride of 0, is moved once. */
static double array_bytes(const lk_argument *is)
{
    double n = type_bytes(is->type);
    for (u32 d = 0; d < is->rank; d++) n *= is->stride[d] || is->dim[d] == 0 ? (double)is->dim[d] : 1;
    return n < (double)is->bytes ? n : (double)is->bytes;
}

static void tell_arrays(struct bench_worker *w, struct json *answer, struct text *work, double *bytes)
{
    struct json list = json_open(answer, "arrays", '[');
    for (u32 i = 0; i < w->args; i++) {
        const struct worker_array *a = &w->arg[i];
        if (a->is.kind != LK_ARGUMENT_BUFFER) {
            if (a->is.kind != LK_ARGUMENT_VALUE) continue;
            struct json one = json_open(&list, NULL, '{');
            json_text(&one, "name", a->is.name);
            json_text(&one, "type", a->is.type);
            u64 raw = 0;
            memcpy(&raw, a->value, MIN_OF(a->is.bytes, (u64)8));
            json_number(&one, "raw", raw);
            json_end(&one, '}');
            continue;
        }
        if (a->is.same < 0) *bytes += array_bytes(&a->is) * (a->is.flow == LK_FLOW_INOUT ? 2 : 1);
        struct json one = json_open(&list, NULL, '{');
        text_add(work, "%s%s %s %s[", work->n ? "; " : "", flow_name(a->is.flow), a->is.name, a->is.type);
        json_text(&one, "name", a->is.name);
        json_text(&one, "type", a->is.type);
        json_text(&one, "flow", flow_name(a->is.flow));
        json_number(&one, "bytes", a->bytes);
        json_number(&one, "offset", a->is.offset);
        json_signed(&one, "same", a->is.same);
        struct json dim = json_open(&one, "dim", '[');
        for (u32 d = 0; d < a->is.rank; d++) {
            json_number(&dim, NULL, a->is.dim[d]);
            text_add(work, "%s%" PRIu64, d ? "," : "", a->is.dim[d]);
        }
        json_end(&dim, ']');
        struct json stride = json_open(&one, "stride", '[');
        for (u32 d = 0; d < a->is.rank; d++) json_number(&stride, NULL, a->is.stride[d]);
        json_end(&stride, ']');
        json_end(&one, '}');
        text_add(work, "]");
    }
    json_end(&list, ']');
}

static void tell_kernel(struct bench_worker *w, bool usage, struct json *answer)
{
    lk_usage u = { .size = sizeof u };
    lk_occupancy o = { .size = sizeof o };
    size_t bytes = 0;
    const char *ptx = lk_module_ptx(w->module, &bytes);
    struct hash h;
    char hex[HASH_HEX] = "";
    u32 threads = w->launch.block[0];
    for (u32 d = 1; d < 3; d++) threads *= w->launch.block[d] ? w->launch.block[d] : 1;
    hash_begin(&h);
    if (ptx) hash_add(&h, ptx, bytes);
    hash_end(&h, hex);
    json_text(answer, "kernel", lk_kernel_plain(w->k));
    json_text(answer, "binary", hex);
    if (!usage) return; /* ptxas takes longer than most cases */
    if (lk_module_assemble(w->module) == LK_OK && lk_kernel_usage(w->k, &u) == LK_OK)
        json_number(answer, "registers", u.registers);
    if (lk_kernel_occupancy(w->k, threads, w->launch.shared_bytes, &o) == LK_OK) {
        json_number(answer, "warps", o.warps);
        json_number(answer, "of_warps", o.of_warps);
        json_text(answer, "limiter", o.limiter);
    }
}

static bool take_case(struct bench_worker *w, const struct json_value *v, struct json *answer, struct error *e)
{
    const char *folder = json_string(v, "folder");
    const struct json_value *make = json_get(v, "make"), *save = json_get(v, "save"), *usage = json_get(v, "usage");
    bool is_make = make && make->yes, is_save = save && save->yes;
    struct text work = { 0 };
    double bytes = 0;
    drop_case(w);
    lk_report_clear(w->gpu);
    if (lk_contract_read_case(w->gpu, w->file, w->text.p, w->text.n, w->usual, json_string(v, "line"), &w->contract))
        return worker_refused(w, e);
    if (!load_module(w, e)) return false;
    w->k = lk_module_kernel(w->module, lk_contract_kernel(w->contract, w->block));
    if (!w->k || lk_contract_bind(w->contract, w->k, NULL, 0) != LK_OK) return worker_refused(w, e);
    w->args = lk_contract_argument_count(w->contract);
    if (w->args > WORKER_ARGS) return error_set(e, ERR_UNSUPPORTED, "bench passes at most %d arguments", WORKER_ARGS);
    for (u32 i = 0; i < w->args; i++)
        if (!make_argument(w, i, folder, is_make, e)) return false;
    w->launch = (lk_launch){ .size = sizeof w->launch, .args = w->pointer, .arg_count = w->args, .as_given = 1 };
    lk_contract_shape(w->contract, &w->launch);
    if (!w->launch.grid[0] || !w->launch.block[0])
        return error_set(e, ERR_NOTHING, "nothing is launched for %.200s: the grid is empty, or the contract has none",
                         json_string(v, "line"));
    if (!first_launch(w, folder, is_save, answer, e)) return false;
    tell_arrays(w, answer, &work, &bytes);
    json_text(answer, "work", work.n ? work.p : "");
    json_double(answer, "bytes", bytes);
    text_free(&work);
    tell_kernel(w, usage && usage->yes, answer);
    json_bool(answer, "graph", true);
    return true;
}

/* ---- questions ---- */

static bool take_time(struct bench_worker *w, const struct json_value *v, struct json *answer, struct error *e)
{
    enum bench_mode mode;
    u32 samples = (u32)json_whole(v, "samples"), batch = 1;
    struct bench_clock c = { 0 };
    if (!w->contract) return error_set(e, ERR_INPUT, "no case is prepared");
    if (!samples || samples > 100000 || !bench_mode_find(json_string(v, "mode"), &mode))
        return error_set(e, ERR_INPUT, "time needs a mode and samples");
    double *out = NEW_ARRAY(&w->asked, double, samples);
    if (!worker_time(w, mode, samples, out, &batch, e)) return false;
    struct json list = json_open(answer, "samples", '[');
    for (u32 i = 0; i < samples; i++) json_double(&list, NULL, out[i]);
    json_end(&list, ']');
    json_number(answer, "batch", batch);
    if (nvml_read(0, &c)) {
        json_number(answer, "sm_mhz", c.sm_mhz);
        json_number(answer, "memory_mhz", c.memory_mhz);
        json_number(answer, "power_mw", c.power_mw);
        json_number(answer, "celsius", c.celsius);
        json_number(answer, "throttle", c.throttle);
    }
    return true;
}

static bool take_count(struct bench_worker *w, struct text *line, struct error *e)
{
    char *json = lk_profile_json(w->gpu);
    if (!json) return error_set(e, ERR_NOTHING, "nothing was counted");
    size_t n = strcspn(json, "\n");
    text_add(line, "{\"profile\":");
    text_put(line, json, n);
    text_add(line, "}");
    lk_text_free(json);
    return true;
}

static void answer_one(struct bench_worker *w, char *text, struct text *line)
{
    struct error e = { 0 };
    const struct json_value *v = json_read(&w->asked, str_of(text), "question", &e);
    const char *what = v ? json_string(v, "do") : "";
    bool ok = v != NULL;
    if (ok && !strcmp(what, "count")) {
        ok = take_count(w, line, &e);
        if (ok) return;
    }
    line->n = 0;
    struct json top = { line, false }, answer = json_open(&top, NULL, '{');
    if (ok && !strcmp(what, "open"))
        ok = open_kernel(w, v, &answer, &e);
    else if (ok && !strcmp(what, "case"))
        ok = take_case(w, v, &answer, &e);
    else if (ok && !strcmp(what, "time"))
        ok = take_time(w, v, &answer, &e);
    else if (ok)
        ok = error_set(&e, ERR_INPUT, "a worker is asked to open, case, time or count, not `%.40s`", what);
    if (!ok) {
        line->n = 0;
        top = (struct json){ line, false };
        answer = json_open(&top, NULL, '{');
        json_text(&answer, "why", e.text);
        json_number(&answer, "code", e.code);
    }
    json_end(&answer, '}');
}

int bench_work(void)
{
    static struct bench_worker w;
    struct text line = { 0 };
    char *text = NULL;
    size_t room = 0;
    int out = dup(STDOUT_FILENO);
    if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return EXIT_USAGE;
    while (getline(&text, &room, stdin) > 0) {
        text[strcspn(text, "\n")] = 0;
        answer_one(&w, text, &line);
        text_add(&line, "\n");
        if (!file_put(out, line.p, line.n)) break;
        line.n = 0;
        arena_free(&w.asked);
    }
    drop_case(&w);
    if (w.gpu) lk_gpu_destroy(w.gpu);
    return EXIT_CLEAN;
}
