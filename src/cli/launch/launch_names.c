/* What a name stands for in a command line with several launches.
 *
 * A name is explicit where the command line gives it, x=f32[100]=rand, and implicit where the source, the PTX or the
 * contract has it for a parameter. An argument may take what an earlier launch made, by its explicit name or, where
 * only one of the earlier launches has it, by its implicit one; of its own launch only explicit names count, since
 * `out` means the result of the launch before, whatever this kernel calls its own parameters. */
#include "cli/cli.h"
#include "launch/launch.h"
#include <stdlib.h>

struct found { /* what a name leads to */
    u32 launch, arg;
    u32 others; /* launches that have it, too: it could be either */
    u32 other;  /* the last of those */
    bool any;
};

static void found_add(struct found *f, u32 launch, u32 arg)
{
    f->others += f->any && f->launch != launch;
    if (f->any && f->launch != launch) f->other = launch;
    if (!f->any) *f = (struct found){ .launch = launch, .arg = arg, .any = true };
}

/* The explicit names of the first `args` arguments of this launch and of all those before it. */
static struct found find_explicit(const struct session *s, const char *name, u32 args)
{
    struct found f = { 0 };
    for (u32 k = s->number + 1; k-- > 0;) {
        const struct launch_options *o = s->all->launch[k].o;
        for (u32 i = 0; i < (k == s->number ? args : o->args); i++)
            if (o->arg[i].named && !strcmp(o->arg[i].name, name)) found_add(&f, k, i);
        if (f.any && k == s->number) return f; /* the nearest one */
    }
    return f;
}

/* The implicit names of what earlier launches made; buffers inside of structs are called NAME.member. */
static struct found find_implicit(const struct session *s, const char *name)
{
    struct found f = { 0 };
    for (u32 k = 0; k < s->number; k++) {
        const struct session *x = &s->all->launch[k];
        for (u32 i = 0; i < x->o->all; i++)
            if (x->o->arg[i].kind != ARG_SAME && !strcmp(x->buffer[i].name, name)) found_add(&f, k, i);
    }
    return f;
}

/* "x, y (launch 1), sum (launch 2)": what the launches before this one have. */
static const char *names_there(struct session *s)
{
    struct text t = { 0 };
    for (u32 k = 0; k < s->number && t.n < 200; k++) {
        const struct session *x = &s->all->launch[k];
        u32 n = 0;
        for (u32 i = 0; i < x->o->all && t.n < 200; i++)
            if (x->o->arg[i].kind == ARG_BUFFER && strncmp(x->buffer[i].name, "arg ", 4))
                text_add(&t, "%s%s", n++ || t.n ? ", " : "", x->buffer[i].name);
        if (n) text_add(&t, " (launch %u)", k + 1);
    }
    const char *text = t.n ? arena_str(&s->mem, (struct str){ t.p, (u32)t.n }) : NULL;
    text_free(&t);
    return text;
}

static bool unknown_name(struct session *s, u32 i, const struct arg *g, struct error *e)
{
    const char *there = names_there(s);
    const char *at = strstr(g->text, g->of);
    if (there)
        return arg_error(e, i, g->text, at ? at : g->text,
                         "nothing before has the name %.60s; there are %s. Else an argument is %s %s", g->of, there,
                         arg_forms, scalar_names);
    return arg_error(e, i, g->text, at ? at : g->text, "nothing before has the name %.60s; an argument is %s %s", g->of,
                     arg_forms, scalar_names);
}

static bool ambiguous_name(const struct session *s, const char *name, const struct found *f, struct error *e)
{
    return error_set(e, ERR_INPUT,
                     "launches %u and %u both have %s `%.60s`: give the one that is meant a name of its own there, as "
                     "in NAME=%s, and use that",
                     f->launch + 1, f->other + 1, launch_arg(s, f->launch, f->arg)->type ? "an argument" : "something",
                     name,
                     s->all->launch[f->launch].buffer[f->arg].type[0] ? s->all->launch[f->launch].buffer[f->arg].type
                                                                      : launch_arg(s, f->launch, f->arg)->text);
}

/* The argument takes what another one is: the same buffer, or a copy of the value. */
static void take(const struct session *s, const struct found *f, struct arg *g)
{
    const struct arg *t = launch_arg(s, f->launch, f->arg);
    if (t->kind == ARG_BUFFER || t->kind == ARG_SAME) {
        g->launch = t->kind == ARG_SAME ? t->launch : f->launch;
        g->same = t->kind == ARG_SAME ? t->same : f->arg;
        g->offset += t->kind == ARG_SAME ? t->offset : 0;
        g->resolved = true;
        return;
    }
    struct arg own = *g;
    *g = *t;
    g->text = own.text;
    g->name = own.name;
    g->named = own.named;
}

bool launch_same_resolve(struct session *s, u32 i, struct arg *g, struct error *e)
{
    if (g->kind != ARG_SAME || g->resolved) return true;
    if (!g->of) {
        g->launch = s->number;
        if (g->same >= i) return error_set(e, ERR_INPUT, "argument %u: %s names no earlier argument", i, g->text);
        return s->o->arg[g->same].kind == ARG_BUFFER ||
               error_set(e, ERR_INPUT, "argument %u: %s names argument %u, which is not a buffer", i, g->text, g->same);
    }
    struct found f = find_explicit(s, g->of, i);
    if (!f.any) f = find_implicit(s, g->of);
    if (!f.any) return unknown_name(s, i, g, e);
    if (f.others) return ambiguous_name(s, g->of, &f, e);
    const struct arg *t = launch_arg(s, f.launch, f.arg);
    bool buffer = t->kind == ARG_BUFFER || t->kind == ARG_SAME;
    if (t->kind == ARG_STRUCT || (g->offset && !buffer))
        return error_set(e, ERR_INPUT, "argument %u: %s names %s, which is not a buffer", i, g->text, t->text);
    take(s, &f, g);
    return true;
}

bool launch_names_check(const struct session *s, struct error *e)
{
    const struct launch_options *o = s->o;
    for (u32 i = 0; i < o->args && !launch_by_contract(s); i++)
        for (u32 k = 0; o->arg[i].named && k < s->number; k++) {
            const struct launch_options *before = s->all->launch[k].o;
            for (u32 j = 0; j < before->args; j++)
                if (before->arg[j].named && !strcmp(before->arg[j].name, o->arg[i].name))
                    return arg_error(e, i, o->arg[i].text, o->arg[i].text,
                                     "launch %u has given this name already, to %.60s: %s alone takes that again, and "
                                     "something new needs another name",
                                     k + 1, before->arg[j].text, o->arg[i].name);
        }
    return true;
}

bool launch_want_find(const struct session *s, const char *option, struct want *w, struct error *e)
{
    const struct launch_options *o = s->o;
    bool digits = w->key[strspn(w->key, "0123456789")] == 0;
    struct found f = { .launch = s->number };
    f.arg = digits && strlen(w->key) < 6 ? (u32)strtoul(w->key, NULL, 10) : o->all;
    if (f.arg >= o->args && digits)
        return error_set(e, ERR_INPUT, "%s %.60s: there are %u arguments, numbered from 0", option, w->key, o->args);
    for (u32 i = 0; !digits && i < o->all && !f.any; i++)
        if (!strcmp(s->buffer[i].name, w->key)) found_add(&f, s->number, i);
    if (!digits && !f.any) f = find_explicit(s, w->key, o->args);
    if (!digits && !f.any) f = find_implicit(s, w->key);
    if (!digits && !f.any)
        return error_set(e, ERR_INPUT,
                         "%s %.60s: no argument has this name; use its number from 0, or name it: %.60s=f32[100]=...",
                         option, w->key, w->key);
    if (f.others) return ambiguous_name(s, w->key, &f, e);
    const struct arg *g = launch_arg(s, f.launch, f.arg);
    if (g->kind == ARG_SAME && !g->offset && g->of) {
        f.launch = g->launch;
        f.arg = g->same;
    } else if (g->kind != ARG_BUFFER)
        return error_set(e, ERR_INPUT, "%s %.60s: argument %u, %.100s, is not a buffer", option, w->key, f.arg,
                         g->text);
    w->launch = f.launch;
    w->arg = f.arg;
    return true;
}
