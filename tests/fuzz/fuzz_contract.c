/* Fuzz target of contracts: any bytes as the text of a file, then every block bound, filled and held against a
 * launch. What is refused must say why and where; what is taken must be within its limits.
 * With libFuzzer: clang -fsanitize=fuzzer,address,undefined. With -DREPLAY: a program that runs the files it is
 * given. */
#include "base/json.h"
#include "contract/contract_json.h"

enum { FILL_MOST = 4096, ARGS_MOST = 64 };

static struct mem_object *find(void *ctx, u64 addr)
{
    struct mem_object *o = ctx;
    return addr - o->base <= o->size ? o : NULL;
}

/* The arguments of a block, all of them in one small allocation: everything overlaps and much is too short. */
static void held(struct arena *a, const struct bound *b)
{
    static const char type[] = "f32[8,4]";
    struct mem_object o = { .base = 4096, .size = 128, .name = "o", .type = type, .element_size = 4 };
    u32 n = MIN_OF(b->kernel->args.n, (u32)ARGS_MOST);
    const void **args = NEW_ARRAY(a, const void *, n + 1);
    for (u32 i = 0; i < n; i++) {
        u64 *v = arena_alloc(a, MAX_OF(b->arg[i].arg->nbytes, 8u), 8);
        *v = i % 5 == 4 ? 0 : o.base + i;
        args[i] = v;
    }
    struct report *r = report_new();
    CHECK(r);
    struct contract_launch l = {
        .bound = b, .kernel = "k", .args = args, .nargs = n, .shared = 64, .find = find, .ctx = &o, .report = r
    };
    CHECK(contract_obeyed(&l) == !report_errors(r));
    report_free(r);
}

static void bound_block(struct arena *a, const struct contract *c, const struct contract_kernel *k)
{
    struct error e = { 0 };
    struct bound b;
    char text[160];
    CHECK(contract_find(c, k->name, k->name));
    struct layout_value layout[] = { { .name = "x", .layout = LAYOUT_ROWS, .amount = 2 },
                                     { .name = "y", .layout = LAYOUT_OFFSET, .amount = 3 },
                                     { .name = "x", .layout = LAYOUT_BROADCAST },
                                     { .name = "out", .layout = LAYOUT_STRIDES, .told = 2, .stride = { 0, 5 } } };
    if (!contract_bind_with(a, c, k, NULL, 0, layout, COUNT_OF(layout), &b, &e)) {
        CHECK(e.code == ERR_INPUT && e.text[0] && e.where[0]);
        e = (struct error){ 0 };
    }
    if (!contract_bind(a, c, k, NULL, 0, &b, &e)) {
        CHECK(e.code == ERR_INPUT && e.text[0] && e.where[0]);
        return;
    }
    CHECK(b.shared <= UINT32_MAX);
    for (u32 i = 0; i < k->args.n; i++) {
        const struct bound_arg *g = &b.arg[i];
        if (g->arg->kind != CONTRACT_BUFFER) continue;
        contract_type_text(g, text, sizeof text);
        CHECK(g->align && g->bytes == g->shape.extent * g->arg->shape.type->bytes && g->shape.extent <= (u64)1 << 40);
        if (g->shape.extent > FILL_MOST || g->fill.kind == FILL_FILE) continue;
        u8 *data = arena_alloc(a, g->bytes + 1, 8);
        CHECK(fill_make(&g->fill, g->arg->shape.type, g->shape.extent, 1, i, data));
    }
    held(a, &b);
}

/* Whatever the lines say is JSON. */
static void said(struct arena *a, const struct contract *c)
{
    struct error e = { 0 };
    struct text t = { 0 };
    contract_json(c, &t);
    const struct json_value *v = json_read(a, (struct str){ t.p, t.n }, "said", &e);
    CHECK(v && json_list(v, "kernels")->n == c->kernels.n && json_list(v, "ops")->n == c->ops.n);
    text_free(&t);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
    struct arena a = { 0 };
    struct error e = { 0 };
    struct contract c;
    char *copy = base_alloc(n ? n : 1); /* exactly as long, so that a sanitizer sees a step too far */
    CHECK(copy);
    memcpy(copy, data, n);
    if (!contract_parse(&a, "in.cu", (struct str){ copy, (u32)n }, &c, &e)) {
        CHECK(e.code == ERR_INPUT && e.text[0] && !strncmp(e.where, "in.cu:", 6));
    } else {
        said(&a, &c);
        for (u32 i = 0; i < c.kernels.n; i++) bound_block(&a, &c, &c.kernels.p[i]);
    }
    base_free(copy);
    arena_free(&a);
    return 0;
}

#ifdef REPLAY
#include "replay.h"
#endif
