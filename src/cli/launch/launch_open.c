/* Opening the launches of a command line, up to the point where they can run: contracts, modules, kernels, arguments.
 *
 * Everything that can be wrong with any of them is said before the first one runs. */
#include "cli/cli.h"
#include "launch/launch.h"
#include <stdlib.h>

/* What is wrong with one launch of several says with which. */
static int refused(const struct session *s, struct error *e)
{
    char where[sizeof e->where];
    if (launch_of_several(s)) {
        snprintf(where, sizeof where, "launch %u%s%.200s", s->number + 1, e->where[0] ? ", " : "", e->where);
        memcpy(e->where, where, sizeof where);
    }
    return cli_error_value(e);
}

static bool find_kernel(struct session *s, struct error *e)
{
    const struct launch_options *o = s->o;
    const char *name = o->kernel;
    /* of several kernels, the only one with a contract is meant */
    if (!name && lk_module_kernel_count(s->module) > 1 && s->contract && lk_contract_kernel(s->contract, 0) &&
        !lk_contract_kernel(s->contract, 1))
        name = lk_contract_kernel(s->contract, 0);
    s->kernel = lk_module_kernel(s->module, name);
    if (!s->kernel) return error_set(e, ERR_INPUT, "%.500s", lk_gpu_error(s->gpu));
    s->name = lk_kernel_plain(s->kernel);
    signature_read(&s->mem, o->path, lk_kernel_file(s->kernel), s->name, &s->signature);
    if (s->signature.params != lk_kernel_param_count(s->kernel)) s->signature = (struct signature){ 0 };
    return true;
}

static bool check_shape(struct session *s, struct error *e)
{
    const struct launch_options *o = s->o;
    bool grid = o->grid[0], block = o->block[0];
    const char *other = s->contract && !o->merged ? lk_contract_kernel(s->contract, 0) : NULL;
    if (other && (!grid || !block))
        return error_set(
            e, ERR_INPUT,
            "the contract speaks of `%.60s`, not of `%.60s`: say %s, or add a block for it, lockstep-contract(5)",
            other, lk_kernel_plain(s->kernel),
            grid    ? "--block X[,Y[,Z]]"
            : block ? "--grid X[,Y[,Z]]"
                    : "--grid X[,Y[,Z]] --block X[,Y[,Z]]");
    if (grid && block) return true;
    host_code_read(&s->mem, o->path, &s->host);
    const struct source_launch *there = host_launch_of(&s->host, s->name);
    const char *said = "";
    if (there) said = arena_printf(&s->mem, "; line %u has %.120s, which is not run", there->line, there->head);
    if (!there && s->host.has_main) said = "; its main is not run";
    error_set(e, ERR_INPUT,
              "the shape of the launch is missing: say %s%s%s, or write a contract, lockstep-contract(5)%s",
              grid ? "" : "--grid X[,Y[,Z]]", grid || block ? "" : " ", block ? "" : "--block X[,Y[,Z]]", said);
    snprintf(e->excerpt, sizeof e->excerpt, "%s\n", launch_example(s));
    return false;
}

/* A template by the name without its arguments is the instance that the contract speaks of, with the choices made. */
static void take_instance(struct session *s)
{
    struct launch_options *o = s->o;
    const char *block, *found = NULL;
    size_t n = o->kernel ? strlen(o->kernel) : 0;
    for (u32 i = 0; n && s->contract && (block = lk_contract_kernel(s->contract, i)); i++) {
        if (strncmp(block, o->kernel, n) || (block[n] && block[n] != '<')) continue;
        if (!block[n] || found) return;
        found = block;
    }
    if (found) o->kernel = found;
}

/* What the contract has for the compiler: the flags of the block that is meant. */
static void take_flags(struct session *s)
{
    struct launch_options *o = s->o;
    for (u32 i = 0; !o->merged && s->contract && lk_contract_kernel(s->contract, i); i++) {
        const char *block = lk_contract_kernel(s->contract, i);
        bool meant = o->kernel ? !strcmp(block, o->kernel) : !i && !lk_contract_kernel(s->contract, 1);
        if (meant) compiling_own(&s->mem, &o->compiling, lk_contract_flags(s->contract, i));
    }
    if (o->choices || o->case_line) o->compiling.o.own = 0; /* PTX beside the source was made with the usual ones */
}

/* Whether two launches are of one module. */
static bool same_module(const struct launch_options *a, const struct launch_options *b)
{
    return a->path && b->path && !strcmp(a->path, b->path) && compiling_same(&a->compiling, &b->compiling);
}

/* The kernels of a module that are asked for by name, by any launch; templates among them are instantiated. */
static lk_status load_module(struct session *s)
{
    const struct pipeline *p = s->all;
    VEC(const char *) names = { 0 };
    for (u32 k = s->number; k < p->asked->launches; k++) {
        const struct session *x = &p->launch[k];
        if (!same_module(s->o, x->o)) continue;
        if (x->o->kernel) VEC_PUSH(&s->mem, &names, x->o->kernel);
        for (u32 i = 0; !x->o->kernel && x->contract && lk_contract_kernel(x->contract, i); i++)
            if (strchr(lk_contract_kernel(x->contract, i), '<'))
                VEC_PUSH(&s->mem, &names, lk_contract_kernel(x->contract, i));
    }
    s->owns_module = true;
    s->o->compiling.o.gather = 1;
    return compiling_load(&s->o->compiling, &p->asked->run.common, s->gpu, s->o->path, names.p, names.n, &s->module);
}

/* The module of an earlier launch, or one of its own. 0, or an exit code after saying why. */
static int get_module(struct session *s)
{
    const struct launch_options *o = s->o;
    const struct common *common = &s->all->asked->run.common;
    for (u32 k = 0; k < s->number && !s->module; k++)
        if (same_module(s->all->launch[k].o, o)) s->module = s->all->launch[k].module;
    if (s->module || o->part) return EXIT_CLEAN;
    lk_status status = load_module(s);
    if (status != LK_OK) return compiling_failed(s->gpu, o->path, status);
    if (common->verbose && lk_module_note(s->module)[0])
        fprintf(stderr, "lockstep: %s\n%s", lk_module_note(s->module), lk_gpu_log(s->gpu));
    /* without --device any PTX runs; the card that the reports name would refuse this one */
    u32 target = (u32)strtoul(lk_module_arch(s->module) + 3, NULL, 10);
    if (target > lk_gpu_arch(s->gpu) && !common->quiet)
        fprintf(stderr,
                "lockstep: %s is PTX for sm_%u, which %s (sm_%u) refuses; --device sm_%u runs it as such a card\n",
                o->path, target, lk_gpu_title(s->gpu), lk_gpu_arch(s->gpu), target);
    return EXIT_CLEAN;
}

/* A launch whose module is there: its kernel, its contract, its arguments. 0, or an exit code after saying why. */
static int open_launch(struct session *s, struct error *e)
{
    struct launch_options *o = s->o;
    if (o->part) {
        s->name = part_word(o->part);
        return part_args_check(s, e) && launch_args_make(s, e) ? EXIT_CLEAN : refused(s, e);
    }
    if (!find_kernel(s, e)) {
        refused(s, e);
        if (!o->kernel) launch_offer(s);
        return EXIT_USAGE;
    }
    int code = launch_contract_bind(&s->mem, s->gpu, s->contract, s->kernel, &s->signature, o, e);
    if (code) return code;
    if (!check_shape(s, e) || !launch_args_check(s, e) || !launch_args_make(s, e) || !launch_sets_check(s, e))
        return refused(s, e);
    return EXIT_CLEAN;
}

int pipeline_open(struct pipeline *p, struct request *asked, struct error *e)
{
    int code = EXIT_CLEAN;
    p->asked = asked;
    p->launch = NEW_ARRAY(&p->mem, struct session, asked->launches);
    lk_status status = lk_gpu_create(&asked->run.gpu, &p->gpu);
    if (status != LK_OK) return cli_error_status(status, lk_gpu_error(NULL));
    for (u32 k = 0; k < asked->launches && !code; k++) {
        struct session *s = &p->launch[k];
        *s = (struct session){ .all = p, .number = k, .o = asked->launch[k], .gpu = p->gpu };
        if (s->o->part) continue;
        code = launch_contract_read(s->gpu, s->o, &s->contract, e);
        take_instance(s);
        take_flags(s);
    }
    if (!code && !reporting_begin(&asked->run.reporting, p->gpu, e)) return cli_error_value(e);
    for (u32 k = 0; k < asked->launches && !code; k++) {
        code = get_module(&p->launch[k]);
        if (!code) code = open_launch(&p->launch[k], e);
    }
    return code;
}

void pipeline_close(struct pipeline *p)
{
    for (u32 k = p->launch ? p->asked->launches : 0; k-- > 0;) {
        struct session *s = &p->launch[k];
        for (u32 i = 0; s->buffer && i < s->o->all; i++) base_free(s->buffer[i].initial);
        lk_contract_free(s->contract);
        if (s->module && s->owns_module) lk_module_unload(s->module);
        arena_free(&s->mem);
    }
    if (p->gpu) lk_gpu_destroy(p->gpu);
    arena_free(&p->mem);
}
