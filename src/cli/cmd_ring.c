/* lockstep ring: a ring kernel from the command line; the validation suite; the benchmark. */
#include "base/scalar.h"
#include "cli/ring_command.h"
#include <stdlib.h>
#include <unistd.h>

enum { SECONDS = 60, MESSAGES = 1000 };

/* "f32:1.5,u32:3": the values, one after the other, each aligned to its size. */
static bool read_values(struct ring_request *r, struct ring_send *s, const char *text, struct error *e)
{
    s->data = arena_alloc(&r->mem, 8 * strlen(text) + 8, 16);
    while (*text) {
        const char *colon = strchr(text, ':'), *end = strchr(text, ',');
        if (!end) end = text + strlen(text);
        const struct scalar *t = colon && colon < end ? scalar_find((struct str){ text, (u32)(colon - text) }) : NULL;
        char why[200];
        if (!t)
            return error_set(e, ERR_INPUT,
                             "--send: values are TYPE:NUMBER with commas, as in f32:1.5,u32:3; `%.40s` is none", text);
        s->bytes = (s->bytes + t->bytes - 1) / t->bytes * t->bytes;
        if (!scalar_parse(t, (struct str){ colon + 1, (u32)(end - colon - 1) }, s->data + s->bytes, why, sizeof why))
            return error_set(e, ERR_INPUT, "--send: %s", why);
        s->bytes += t->bytes;
        text = *end ? end + 1 : end;
    }
    return true;
}

/* ACTOR[:TYPE]=VALUES */
static bool read_send(struct ring_request *r, const char *text, struct error *e)
{
    const char *equals = strchr(text, '='), *colon = strchr(text, ':');
    struct ring_send s = { .type = 1 };
    if (!equals) return error_set(e, ERR_INPUT, "--send takes ACTOR[:TYPE]=VALUES, as in add:1=u32:3,f32:1.5");
    const char *end = colon && colon < equals ? colon : equals;
    u64 type = 1;
    if (end == colon &&
        !option_whole(arena_str(&r->mem, (struct str){ colon + 1, (u32)(equals - colon - 1) }), UINT32_MAX, &type))
        return error_set(e, ERR_INPUT, "--send: the number of the type is wrong in `%.60s`", text);
    s.type = (u32)type;
    s.actor = arena_str(&r->mem, (struct str){ text, (u32)(end - text) });
    if (!read_values(r, &s, equals + 1, e)) return false;
    VEC_PUSH(&r->mem, &r->send, s);
    return true;
}

static bool read_policy(const struct row *o, const char *value, u32 *out, struct error *e)
{
    static const char *const name[] = { "wait", "drop", "refuse" };
    for (u32 i = 0; i < (o->id == O_ring_OVERFLOW ? 3 : 2); i++)
        if (!strcmp(value, name[i])) {
            *out = i;
            return true;
        }
    return error_set(e, ERR_INPUT, "%s may be %s, not `%.40s`", o->name, o->operand, value);
}

static bool read_u32(const struct row *o, const char *value, u32 *out, struct error *e)
{
    u64 v;
    if (!option_number(o, value, UINT32_MAX, &v, e)) return false;
    *out = (u32)v;
    return true;
}

static bool read_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct ring_request *r = self;
    switch (o->id) {
    case O_ring_VALIDATE: return r->validate = true;
    case O_ring_BENCH: return r->bench = true;
    case O_ring_STATUS: return r->status = true;
    case O_ring_MESSAGES: return option_number(o, value, UINT32_MAX, &r->messages, e);
    case O_ring_SEND: return read_send(r, value, e);
    case O_ring_AS:
        r->as = value;
        return scalar_find(str_of(value)) || error_set(e, ERR_INPUT, "--as: there is no type `%.40s`", value);
    case O_ring_INSTANCES: return read_u32(o, value, &r->ring.instances, e);
    case O_ring_UNIT_THREADS: return read_u32(o, value, &r->ring.threads, e);
    case O_ring_SLOTS:
        if (!read_u32(o, value, &r->ring.inbox_slots, e)) return false;
        r->ring.outbox_slots = r->ring.mail_slots = r->ring.inbox_slots;
        return true;
    case O_ring_INLINE: return read_u32(o, value, &r->ring.inline_bytes, e);
    case O_ring_IDLE: return read_u32(o, value, &r->ring.idle_ns, e);
    case O_ring_OVERFLOW: return read_policy(o, value, &r->ring.inbox_policy, e);
    case O_ring_ON: r->on = value; return true;
    case O_ring_DEVICE: r->device = value; return true;
    case O_ring_THREADS: return option_number(o, value, 256, &r->workers, e);
    case O_ring_SEED: return option_number(o, value, UINT64_MAX, &r->seed, e);
    case O_ring_DEADLINE: {
        char *end;
        r->seconds = strtod(value, &end);
        return (*value && !*end && r->seconds > 0) ||
               error_set(e, ERR_INPUT, "--deadline takes seconds, not `%.40s`", value);
    }
    case O_ring_JSON: r->json = value; return true;
    case O_ring_SVG: r->svg = value; return true;
    case O_ring_MATRIX: r->matrix = true; return option_number(o, value, 1024, &r->matrix_sms, e);
    default: return compiling_option(&r->mem, &r->compiling, o->id - O_ring_COMPILER, value, e);
    }
}

static bool read_word(void *self, const char *word, struct error *e)
{
    struct ring_request *r = self;
    if (r->path) return error_set(e, ERR_INPUT, "ring takes one file: %.80s", r->path);
    return compiling_target(&r->mem, "ring", word, &r->path, &r->kernel, e);
}

/* lockstep_ring.cuh is found without -I: it lies in ../include of the folder that the command is in. */
static void add_headers(struct ring_request *r)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    char *slash = n > 0 ? (path[n] = 0, strrchr(path, '/')) : NULL;
    if (!slash) return;
    *slash = 0;
    VEC_PUSH(&r->mem, &r->compiling.flag, arena_printf(&r->mem, "-I%s/../include", path));
}

static void print_response(const struct ring_request *r, const lk_ring_message *m, const char *actor)
{
    const struct scalar *t = scalar_find(str_of(r->as ? r->as : "u32"));
    u64 all = m->stage[0] + m->stage[1] + m->stage[2] + m->stage[3];
    printf("%s: message %llu, ", actor, (unsigned long long)m->id);
    if (m->result) printf("result %u\n", m->result);
    if (m->result) return;
    printf("type %u, %u bytes:", m->type, m->bytes);
    u32 n = m->bytes / t->bytes;
    for (u32 i = 0; i < MIN_OF(n, 16u); i++) {
        char text[64];
        scalar_print(t, (const u8 *)m->data + (size_t)i * t->bytes, text, sizeof text);
        printf(" %s", text);
    }
    if (n > 16) printf(" ... (%u)", n);
    if (r->common.verbose) printf("  (%.1f us)", (double)all / 1e3);
    putchar('\n');
}

static void log_line(void *self, const char *line)
{
    (void)self;
    fprintf(stderr, "%s\n", line);
}

/* All messages, one after the other, then the end. */
static int serve(struct ring_request *r, lk_ring *ring)
{
    if (lk_ring_launch(ring, r->seconds) != LK_OK || lk_ring_activate(ring, r->seconds) != LK_OK)
        return cli_error("%s", lk_ring_error(ring));
    int code = EXIT_CLEAN;
    for (u32 i = 0; i < r->send.n && code == EXIT_CLEAN; i++) {
        const struct ring_send *s = &r->send.p[i];
        lk_ring_message m = { .size = sizeof m,
                              .unit = lk_ring_unit_of(ring, s->actor),
                              .type = s->type,
                              .data = s->data,
                              .bytes = s->bytes },
                        got = { .size = sizeof got };
        if (m.unit == UINT32_MAX)
            code = cli_error("the kernel has no actor `%.60s`", s->actor);
        else if (lk_ring_ask(ring, &m, &got, r->seconds) != LK_OK)
            code = cli_error("%s", lk_ring_error(ring));
        else {
            if (!r->json || strcmp(r->json, "-")) print_response(r, &got, s->actor);
            if (got.result) code = EXIT_FINDINGS;
        }
    }
    if (code == EXIT_CLEAN && lk_ring_drain(ring, r->seconds) != LK_OK) code = cli_error("%s", lk_ring_error(ring));
    char *text = r->status ? lk_ring_text(ring) : NULL, *json = r->json ? lk_ring_json(ring) : NULL;
    struct error e = { 0 };
    if (text) fputs(text, stdout);
    if (json && !file_write(r->json, json, strlen(json), &e)) code = cli_error_value(&e);
    lk_text_free(text);
    lk_text_free(json);
    if (lk_ring_terminate(ring, r->seconds) != LK_OK && code == EXIT_CLEAN) code = cli_error("%s", lk_ring_error(ring));
    return code;
}

static int run_file(struct ring_request *r)
{
    lk_gpu *gpu;
    lk_module *module;
    lk_ring *ring = NULL;
    lk_options o = { .size = sizeof o, .on = r->on, .device = r->device, .threads = (u32)r->workers };
    lk_status status = lk_gpu_create(&o, &gpu);
    if (status != LK_OK) return cli_error_status(status, lk_gpu_error(NULL));
    status = compiling_load(&r->compiling, &r->common, gpu, r->path, NULL, 0, &module);
    int code = EXIT_CLEAN;
    r->ring.size = sizeof r->ring;
    r->ring.module = module;
    r->ring.kernel = r->kernel;
    if (r->common.verbose) r->ring.log = log_line;
    if (status != LK_OK)
        code = compiling_failed(gpu, r->path, status);
    else if (lk_ring_create(gpu, &r->ring, &ring) != LK_OK)
        code = cli_error("%s", lk_ring_error(NULL));
    else
        code = serve(r, ring);
    if (lk_report_errors(gpu)) {
        char *report = lk_report_text(gpu, cli_color(&r->common));
        fputs(report, stdout);
        lk_text_free(report);
        code = EXIT_FINDINGS;
    }
    if (lk_ring_destroy(ring) != LK_OK) lk_gpu_interrupt(gpu); /* a unit that does not end */
    lk_gpu_destroy(gpu);
    return code;
}

int cmd_ring(int argc, char **argv)
{
    struct error e = { 0 };
    struct ring_request r = { .seconds = SECONDS, .messages = MESSAGES, .seed = 1 };
    struct parser p = { .verb = VERB_ring, .self = &r, .option = read_option, .word = read_word };
    add_headers(&r);
    bool ok = options_parse(&p, argc, argv, &e);
    r.common = p.common;
    int code;
    r.compiling.o.own = r.compiling.flag.n ? 1 : 0; /* the headers' folder: PTX beside the source was made with it */
    bool others = r.status && !r.path && !r.validate && !r.bench;
    if (ok && !others && !r.path == !(r.validate || r.bench))
        ok = error_set(&e, ERR_INPUT,
                       "ring takes a file, or --validate, or --bench; lockstep ring --help shows examples");
    if (ok && r.validate && r.bench) ok = error_set(&e, ERR_INPUT, "--validate and --bench are two runs");
    if (ok && !r.messages) ok = error_set(&e, ERR_INPUT, "--messages is at least 1");
    if (!ok)
        code = cli_error_value(&e);
    else
        code = others ? ring_status(&r) : r.validate ? ring_validate(&r) : r.bench ? ring_bench(&r) : run_file(&r);
    arena_free(&r.mem);
    return code;
}
