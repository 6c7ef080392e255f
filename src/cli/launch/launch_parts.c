/* The parts of a command line that are no launches, and what all parts may say about their order: --stream, --after and
 * --name. launch_streams.c runs them. */
#include "cli/cli.h"
#include "launch/launch.h"

static const struct {
    const char *word;
    const char *form; /* for messages */
    u32 args;         /* words that are arguments */
    bool value;       /* then a value */
    bool amount;      /* then a number of bytes, which may be left out */
    u64 most;         /* the greatest value */
    bool compare;     /* then a comparison, which may be left out */
} parts[] = {
    [PART_LAUNCH] = { .word = "launch", .form = "FILE:KERNEL" },
    [PART_COPY] = { .word = "copy", .form = "copy TO FROM [BYTES]", .args = 2, .amount = true },
    [PART_FILL] = { .word = "fill", .form = "fill BUFFER VALUE [BYTES]", .args = 1, .value = true, .amount = true },
    [PART_ALLOC] = { .word = "alloc", .form = "alloc NAME=TYPE[N] --stream STREAM", .args = 1 },
    [PART_FREE] = { .word = "free", .form = "free BUFFER --stream STREAM", .args = 1 },
    [PART_WRITE_VALUE] = { .word = "write-value",
                           .form = "write-value BUFFER VALUE --stream STREAM",
                           .args = 1,
                           .value = true,
                           .most = UINT64_MAX },
    [PART_WAIT_VALUE] = { .word = "wait-value",
                          .form = "wait-value BUFFER VALUE [geq|eq|and|nor] --stream STREAM",
                          .args = 1,
                          .value = true,
                          .most = UINT64_MAX,
                          .compare = true },
    [PART_SYNC] = { .word = "sync", .form = "sync [STREAM]" },
    [PART_HOST_WRITE] = { .word = "host-write",
                          .form = "host-write BUFFER VALUE [BYTES]",
                          .args = 1,
                          .value = true,
                          .amount = true },
    [PART_HOST_READ] = { .word = "host-read", .form = "host-read BUFFER [BYTES]", .args = 1, .amount = true },
};

bool part_find(const char *word, enum part_kind *out)
{
    for (u32 k = PART_LAUNCH + 1; k < COUNT_OF(parts); k++)
        if (!strcmp(word, parts[k].word)) {
            *out = (enum part_kind)k;
            return true;
        }
    return false;
}

const char *part_word(enum part_kind kind) { return parts[kind].word; }

bool parts_in_streams(const struct request *r)
{
    for (u32 k = 0; k < r->launches; k++)
        if (r->launch[k]->part != PART_LAUNCH || r->launch[k]->stream) return true;
    return false;
}

static bool read_compare(struct launch_options *o, const char *word, struct error *e)
{
    static const char *const names[] = { "geq", "eq", "and", "nor" }; /* as lk_compare has them */
    for (u32 k = 0; k < COUNT_OF(names); k++)
        if (!strcmp(word, names[k])) {
            o->compare = (lk_compare)k;
            return true;
        }
    return error_set(e, ERR_INPUT, "%s: `%.60s` is not a comparison", parts[o->part].form, word);
}

bool part_read_word(struct launch_options *o, const char *word, bool *arg, struct error *e)
{
    u32 n = o->words++, args = parts[o->part].args;
    *arg = n < args;
    if (*arg) return true;
    if (o->part == PART_SYNC && !n) {
        o->waits = word;
        return true;
    }
    n -= args;
    if (parts[o->part].value && !n)
        return option_whole(word, parts[o->part].most ? parts[o->part].most : 255, &o->value) ||
               error_set(e, ERR_INPUT, "%s: `%.60s` is not a value%s", parts[o->part].form, word,
                         parts[o->part].most ? "" : " of a byte, a number from 0 to 255");
    n -= parts[o->part].value;
    if (parts[o->part].compare && !n) return read_compare(o, word, e);
    if (!parts[o->part].amount || n)
        return error_set(e, ERR_INPUT, "this is %s; nothing may follow, and there is `%.60s`", parts[o->part].form,
                         word);
    return (option_whole(word, UINT64_MAX >> 1, &o->bytes) && o->bytes) ||
           error_set(e, ERR_INPUT, "%s: `%.60s` is not a number of bytes", parts[o->part].form, word);
}

bool part_complete(const struct launch_options *o, struct error *e)
{
    u32 need = parts[o->part].args + parts[o->part].value;
    if (o->words < need)
        return error_set(e, ERR_INPUT, "this is %s, and %u word%s missing", parts[o->part].form, need - o->words,
                         need - o->words == 1 ? " is" : "s are");
    if (o->part >= PART_ALLOC && o->part < PART_SYNC && !o->stream)
        return error_set(e, ERR_INPUT, "%s is done in the order of a stream: say --stream NAME", parts[o->part].word);
    if (o->part >= PART_SYNC && o->stream)
        return error_set(e, ERR_INPUT, "%s is done by the host itself, in no stream: leave out --stream",
                         parts[o->part].word);
    return true;
}

/* ---- order ---- */

static bool after_check(const struct request *r, u32 k, struct error *e)
{
    const struct launch_options *o = r->launch[k];
    for (u32 i = 0; i < o->afters; i++) {
        bool found = false, later = false;
        for (u32 j = 0; j < r->launches; j++) {
            if (!r->launch[j]->label || strcmp(r->launch[j]->label, o->after[i])) continue;
            found |= j < k;
            later |= j >= k;
        }
        if (!found && later)
            return error_set(e, ERR_INPUT,
                             "launch %u, --after %.60s: that part comes later; an event is recorded before anything "
                             "can wait for it",
                             k + 1, o->after[i]);
        if (!found)
            return error_set(e, ERR_INPUT, "launch %u, --after %.60s: no part before it has --name %.60s", k + 1,
                             o->after[i], o->after[i]);
    }
    return true;
}

static bool stream_is_named(const struct request *r, u32 before, const char *name)
{
    for (u32 j = 0; j < before; j++)
        if (r->launch[j]->stream && !strcmp(r->launch[j]->stream, name)) return true;
    return false;
}

static bool label_check(const struct request *r, u32 k, struct error *e)
{
    const char *label = r->launch[k]->label;
    for (u32 j = 0; label && j < k; j++)
        if (r->launch[j]->label && !strcmp(r->launch[j]->label, label))
            return error_set(e, ERR_INPUT, "launches %u and %u both have --name %.60s", j + 1, k + 1, label);
    return true;
}

bool parts_check(const struct request *r, struct error *e)
{
    bool streams = parts_in_streams(r);
    for (u32 k = 0; k < r->launches; k++) {
        const struct launch_options *o = r->launch[k];
        if (!label_check(r, k, e) || !after_check(r, k, e)) return false;
        if (o->waits && !stream_is_named(r, k, o->waits))
            return error_set(e, ERR_INPUT, "launch %u, sync %.60s: no part before it is in a stream of this name",
                             k + 1, o->waits);
        if (streams && (o->trace_file || o->trace.break_at))
            return error_set(e, ERR_INPUT, "%s follows one launch at a time: leave out --stream and the operations",
                             o->trace_file ? "--trace" : "--break");
    }
    for (u32 k = 0; r->run.graphs && k < r->launches; k++) {
        const struct launch_options *o = r->launch[k];
        if (!o->stream || o->part > PART_FREE || o->programmatic)
            return error_set(e, ERR_INPUT,
                             "launch %u, --graph: its parts are launches, copies, fills, allocations and "
                             "frees, all of them with --stream, none with --programmatic",
                             k + 1);
    }
    if (streams && r->run.order)
        return error_set(e, ERR_INPUT,
                         "--order is for launches one after the other; with streams --seed N chooses the order, of "
                         "operations and of blocks");
    return true;
}

/* ---- arguments ---- */

/* The buffer that argument i of the operation is, or leads to. */
static const struct arg *buffer_of(const struct session *s, u32 i)
{
    const struct arg *g = &s->o->arg[i];
    return g->kind == ARG_SAME ? launch_arg(s, g->launch, g->same) : g;
}

static bool fits(struct session *s, u32 i, struct error *e)
{
    const struct arg *g = &s->o->arg[i], *b = buffer_of(s, i);
    const struct launch_options *o = s->o;
    if (b->kind != ARG_BUFFER)
        return arg_error(e, i, g->text, g->text, "%s takes buffers: a name that was given before, or TYPE[N]",
                         part_word(o->part));
    u64 all = b->count * b->type->bytes, left = g->offset < all ? all - g->offset : 0;
    if (o->bytes > left)
        return arg_error(e, i, g->text, g->text, "%llu bytes are asked for, and there are %llu",
                         (unsigned long long)o->bytes, (unsigned long long)left);
    if (o->part == PART_ALLOC && (g->kind != ARG_BUFFER || !g->named || g->fill.kind != FILL_UNINIT || g->memory))
        return arg_error(e, i, g->text, g->text, "alloc makes device memory of its own: NAME=TYPE[N], not filled");
    if (o->part == PART_WRITE_VALUE || o->part == PART_WAIT_VALUE) {
        if (b->type->bytes != 4 && b->type->bytes != 8)
            return arg_error(e, i, g->text, g->text, "a value has 4 or 8 bytes, and an element of %s has %u",
                             b->type->name, b->type->bytes);
        if (left < b->type->bytes || (b->type->bytes == 4 && o->value > UINT32_MAX))
            return arg_error(e, i, g->text, g->text, "the value does not fit there");
    }
    if (o->part == PART_FREE && (g->kind != ARG_SAME || g->offset))
        return arg_error(e, i, g->text, g->text, "free takes the name of a buffer that is there");
    if ((o->part == PART_HOST_READ || o->part == PART_HOST_WRITE) && !b->memory)
        return arg_error(e, i, g->text, g->text,
                         "the host cannot touch device memory; make it pinned:%s[...] or managed:%s[...]",
                         b->type->name, b->type->name);
    return true;
}

bool part_args_check(struct session *s, struct error *e)
{
    struct launch_options *o = s->o;
    s->buffer = NEW_ARRAY(&s->mem, struct buffer, LAUNCH_ARGS);
    o->all = o->args;
    for (u32 i = 0; i < o->args; i++) {
        struct arg *g = &o->arg[i];
        if (!launch_same_resolve(s, i, g, e) || !arg_measure(g, i, e) || !fits(s, i, e)) return false;
        snprintf(s->buffer[i].name, sizeof s->buffer[i].name, "%s",
                 g->name               ? g->name
                 : g->of && !g->offset ? g->of
                                       : g->text);
        if (g->kind == ARG_BUFFER) arg_type_text(g, s->buffer[i].type, sizeof s->buffer[i].type);
    }
    return launch_names_check(s, e) && launch_wants_resolve(s, e);
}
