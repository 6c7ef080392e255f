/* lockstep ring: a ring kernel from the command line; the validation suite; the benchmark. */
#include "base/scalar.h"
#include "launch/args.h"
#include "verbs/ring_command.h"
#include <stdlib.h>
#include <unistd.h>

#define OPTIONS_ring OWN_ROWS
#include "cli/option_own.h"

enum { SECONDS = 60, MESSAGES = 1000 };

enum { PAYLOAD_MOST = 1 << 28 };

/* The end of a value: the next comma outside of brackets. */
static const char *value_end(const char *p)
{
    for (int deep = 0; *p && (deep || *p != ','); p++) deep += (*p == '[') - (*p == ']' && deep);
    return p;
}

/* "u32:3,f32[100]=iota": numbers and arrays as arguments of launch, one after the other, each aligned to its type. */
static bool read_values(struct ring_request *r, struct ring_send *s, const char *text, struct error *e)
{
    for (u32 k = 0; *text; k++) {
        const char *end = value_end(text);
        struct arg g;
        if (!arg_parse(&r->mem, k, arena_str(&r->mem, (struct str){ text, (u32)(end - text) }), &g, e)) return false;
        if ((g.kind != ARG_SCALAR && g.kind != ARG_BUFFER) || g.memory || !arg_measure(&g, k, e))
            return e->code ? false
                           : error_set(e, ERR_INPUT,
                                       "--send: values are TYPE:NUMBER or TYPE[N]=FILL with commas, as in "
                                       "u32:3,f32[3]=iota; `%.*s` is not one",
                                       (int)MIN_OF(end - text, 40), text);
        u64 at = ((u64)s->bytes + g.type->bytes - 1) / g.type->bytes * g.type->bytes,
            bytes = g.kind == ARG_SCALAR ? g.type->bytes : g.count * g.type->bytes;
        if (at + bytes > PAYLOAD_MOST) return error_set(e, ERR_INPUT, "--send: a message of more than 256 MiB");
        u8 *data = arena_alloc(&r->mem, at + bytes + 8, 16);
        if (s->bytes) memcpy(data, s->data, s->bytes);
        memset(data + s->bytes, 0, at - s->bytes);
        if (g.kind == ARG_SCALAR)
            memcpy(data + at, g.value, bytes);
        else if (!arg_fill(&g, k, r->seed, data + at, e))
            return false;
        s->data = data;
        s->bytes = (u32)(at + bytes);
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
    switch ((enum own_option)o->id) {
    case OWN_VALIDATE: return r->validate = true;
    case OWN_BENCH: return r->bench = true;
    case OWN_STATUS: return r->status = true;
    case OWN_MESSAGES: return option_number(o, value, UINT32_MAX, &r->messages, e);
    case OWN_SEND: return read_send(r, value, e);
    case OWN_AS:
        r->as = value;
        return scalar_find(str_of(value)) || error_set(e, ERR_INPUT, "--as: there is no type `%.40s`", value);
    case OWN_INSTANCES: return read_u32(o, value, &r->ring.instances, e);
    case OWN_UNIT_THREADS: return read_u32(o, value, &r->ring.threads, e);
    case OWN_SLOTS:
        if (!read_u32(o, value, &r->ring.inbox_slots, e)) return false;
        r->ring.outbox_slots = r->ring.mail_slots = r->ring.inbox_slots;
        return true;
    case OWN_INLINE: return read_u32(o, value, &r->ring.inline_bytes, e);
    case OWN_IDLE: return read_u32(o, value, &r->ring.idle_ns, e);
    case OWN_OVERFLOW: return read_policy(o, value, &r->ring.inbox_policy, e);
    case OWN_ON: r->on = value; return true;
    case OWN_DEVICE: r->device = value; return true;
    case OWN_THREADS: return option_number(o, value, 256, &r->workers, e);
    case OWN_SEED: return option_number(o, value, UINT64_MAX, &r->seed, e);
    case OWN_DEADLINE: {
        char *end;
        r->seconds = double_read(value, &end);
        return (*value && !*end && r->seconds > 0) ||
               error_set(e, ERR_INPUT, "--deadline takes seconds, not `%.40s`", value);
    }
    case OWN_JSON: r->json = value; return true;
    case OWN_SVG: r->svg = value; return true;
    case OWN_MATRIX: r->matrix = true; return option_number(o, value, 1024, &r->matrix_sms, e);
    }
    return compiling_option(&r->mem, &r->compiling, o->id - O_ring_COMPILER, value, e);
}

static bool read_word(void *self, const char *word, struct error *e)
{
    struct ring_request *r = self;
    if (r->path) return error_set(e, ERR_INPUT, "ring takes one file: %.80s", r->path);
    return compiling_target(&r->mem, "ring", word, &r->path, &r->kernel, e);
}

static void print_response(const struct ring_request *r, const lk_ring_message *m, const char *actor)
{
    const struct scalar *t = scalar_find(str_of(r->as ? r->as : "u32"));
    u64 all = m->stage[0] + m->stage[1] + m->stage[2] + m->stage[3];
    printf("%s: message %llu, ", actor, (unsigned long long)m->id);
    if (m->result) printf("result %u: %s\n", m->result, lk_ring_result_name(m->result));
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

/* Names the actors there are: a unit is called RING.ACTOR.NUMBER. */
static int no_actor(struct ring_request *r, lk_ring *ring, const char *name)
{
    struct text t = { 0 };
    lk_ring_unit_info u = { .size = sizeof u };
    const char *names[64];
    u32 n = 0;
    for (u32 i = 0; n < COUNT_OF(names) && lk_ring_unit(ring, i, &u) == LK_OK; i++) {
        char *from = strchr(u.name, '.'), *to = strrchr(u.name, '.');
        if (!from || from == to) continue;
        const char *actor = arena_str(&r->mem, (struct str){ from + 1, (u32)(to - from - 1) });
        if (n && !strcmp(names[n - 1], actor)) continue;
        text_add(&t, "%s%s", n ? ", " : "", actor);
        names[n++] = actor;
    }
    const char *near = str_nearest(str_of(name), names, n);
    int code = cli_error("the kernel has no actor `%.60s`; it has %s%s%s%s", name, t.n ? t.p : "none",
                         near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
    text_free(&t);
    return code;
}

static void ring_line(void *self, const char *line)
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
        lk_status came = m.unit == UINT32_MAX ? LK_BAD_INPUT : lk_ring_ask(ring, &m, &got, r->seconds);
        r->unanswered = came == LK_NOT_READY;
        if (m.unit == UINT32_MAX)
            code = no_actor(r, ring, s->actor);
        else if (came != LK_OK)
            code = cli_error("%s", lk_ring_error(ring));
        else {
            if (!r->json || strcmp(r->json, "-")) print_response(r, &got, s->actor);
            if (got.result) code = EXIT_FINDINGS;
            if (r->bench && code == EXIT_CLEAN) code = ring_bench_own(r, ring, s, &m, &got);
        }
    }
    if (code == EXIT_CLEAN && lk_ring_drain(ring, r->seconds) != LK_OK) code = cli_error("%s", lk_ring_error(ring));
    char *text = r->status ? lk_ring_text(ring) : NULL, *json = r->json ? lk_ring_json(ring) : NULL;
    struct error e = { 0 };
    if (text) fputs(text, stdout);
    if (json && !file_write(r->json, json, strlen(json), &e)) code = cli_error_value(&e);
    lk_text_free(text);
    lk_text_free(json);
    if (r->unanswered) return code;
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
    if (r->common.verbose) r->ring.log = ring_line;
    if (status != LK_OK)
        code = compiling_failed(gpu, r->path, status);
    else if (lk_ring_create(gpu, &r->ring, &ring) != LK_OK)
        code = cli_error("%s", lk_ring_error(NULL));
    else
        code = serve(r, ring);
    if (r->unanswered) { /* where the unit stands is in the report */
        lk_gpu_interrupt(gpu);
        lk_gpu_synchronise(gpu);
    }
    if (lk_report_errors(gpu)) {
        char *report = lk_report_text(gpu, cli_color(&r->common));
        cli_put(stdout, report, strlen(report));
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
    bool ok = options_parse(&p, argc, argv, &e);
    r.common = p.common;
    int code;
    bool others = r.status && !r.path && !r.validate && !r.bench;
    if (ok && !others && r.path ? r.validate : !(r.validate || r.bench || others))
        ok = error_set(&e, ERR_INPUT,
                       "ring takes a file, or --validate, or --bench; lockstep ring --help shows examples");
    if (ok && r.path && r.bench && !r.send.n)
        ok = error_set(&e, ERR_INPUT, "--bench of a ring of one's own measures the messages of --send ACTOR=VALUES");
    if (ok && r.validate && r.bench) ok = error_set(&e, ERR_INPUT, "--validate and --bench are two runs");
    if (ok && !r.messages) ok = error_set(&e, ERR_INPUT, "--messages is at least 1");
    if (!ok)
        code = cli_error_value(&e);
    else
        code = others               ? ring_status(&r)
               : r.validate         ? ring_validate(&r)
               : r.bench && !r.path ? ring_bench(&r)
                                    : run_file(&r);
    arena_free(&r.mem);
    return code;
}
