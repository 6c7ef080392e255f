/* cuBLASLt: descriptors, in the opaque structs of the program or in memory of ours, and products that they describe,
 * which blas_gemm.c does. A matrix by rows is the transposed one by columns. */
#include "libraries/blas_gemm.h"
#include <inttypes.h>

enum { DESC_BYTES = 256, LAYOUT_BYTES = 64, PREFERENCE_BYTES = 64, ALGORITHM_BYTES = 64 };
enum { VERSION_12 = 120900, VERSION_13 = 130000 };
enum { ORDER_COLUMNS, ORDER_ROWS };
static const u32 NO_TYPE = UINT32_MAX;

struct layout { /* cublasLtMatrixLayout_t */
    u32 type, order;
    u64 rows, columns;
    s64 ld;
    s32 batch;
    s64 stride;
};
struct desc { /* cublasLtMatmulDesc_t */
    u32 compute, scale, mode, transa, transb, epilogue, bias_type, aux_type, scale_mode[4];
    void *bias, *aux, *scale_a, *scale_b, *scale_c, *scale_d;
    s64 ld_aux, stride_bias, stride_aux;
    u32 others; /* attributes that are set and change the result, but are not done: DIFFERENT */
};
struct preference { /* cublasLtMatmulPreference_t */
    u64 workspace;
};
struct heuristic { /* cublasLtMatmulHeuristicResult_t */
    u64 algorithm[8];
    u64 workspace;
    s32 state;
    float waves;
    s32 reserved[4];
};
_Static_assert(sizeof(struct layout) <= LAYOUT_BYTES && sizeof(struct desc) <= DESC_BYTES &&
                   sizeof(struct preference) <= PREFERENCE_BYTES,
               "the opaque structs of cublasLt.h have room");

/* ---- handles ---- */

s64 lt_create(struct library_call *c)
{
    void **out = c->a.handle;
    if (!cu_ok(out)) return c->codes->invalid;
    struct library_handle *h = library_handle_new(c, HANDLE_LT, sizeof *h);
    if (!h) return c->codes->unready;
    *out = library_handle_open(h);
    return 0;
}
s64 lt_destroy(struct library_call *c) { return library_handle_end(c, HANDLE_LT); }
s64 lt_version(struct library_call *c)
{
    (void)c;
    return library_release() == 12 ? VERSION_12 : VERSION_13;
}

/* ---- descriptors ---- */

static s64 made(struct library_call *c, size_t bytes, library_function *init)
{
    void **out = c->a.result;
    if (!cu_ok(out)) return c->codes->invalid;
    c->a.desc = base_alloc(bytes);
    if (!c->a.desc) return c->codes->memory;
    c->a.bytes = (s64)bytes;
    *out = c->a.desc;
    return init(c);
}
s64 lt_free(struct library_call *c)
{
    base_free(c->a.desc);
    return 0;
}

s64 lt_desc_init(struct library_call *c)
{
    struct desc *d = c->a.desc;
    if (c->a.bytes < DESC_BYTES || !bytes_readable(d, sizeof *d)) return c->codes->invalid;
    bytes_clear(d, DESC_BYTES);
    d->compute = (u32)c->a.computeType;
    d->scale = (u32)c->a.scaleType;
    d->epilogue = 1;
    d->bias_type = d->aux_type = NO_TYPE;
    return 0;
}
s64 lt_desc_create(struct library_call *c) { return made(c, DESC_BYTES, lt_desc_init); }

s64 lt_layout_init(struct library_call *c)
{
    struct layout *l = c->a.desc;
    if (c->a.bytes < LAYOUT_BYTES || !bytes_readable(l, sizeof *l)) return c->codes->invalid;
    bytes_clear(l, LAYOUT_BYTES);
    *l = (struct layout){ (u32)c->a.type, ORDER_COLUMNS, (u64)c->a.rows, (u64)c->a.cols, c->a.ld, 1, 0 };
    return 0;
}
s64 lt_layout_create(struct library_call *c) { return made(c, LAYOUT_BYTES, lt_layout_init); }

s64 lt_preference_init(struct library_call *c)
{
    if (c->a.bytes < PREFERENCE_BYTES || !bytes_readable(c->a.desc, PREFERENCE_BYTES)) return c->codes->invalid;
    bytes_clear(c->a.desc, PREFERENCE_BYTES);
    return 0;
}
s64 lt_preference_create(struct library_call *c) { return made(c, PREFERENCE_BYTES, lt_preference_init); }

/* ---- attributes ---- */

struct attribute {
    s32 number;
    u16 at, bytes;
};
#define FIELD(number, of, field)                                          \
    {                                                                     \
        number, offsetof(struct of, field), sizeof((struct of *)0)->field \
    }
static const struct attribute desc_attributes[] = {
    FIELD(0, desc, compute),        FIELD(1, desc, scale),          FIELD(2, desc, mode),
    FIELD(3, desc, transa),         FIELD(4, desc, transb),         FIELD(7, desc, epilogue),
    FIELD(8, desc, bias),           FIELD(10, desc, stride_bias),   FIELD(11, desc, aux),
    FIELD(12, desc, ld_aux),        FIELD(13, desc, stride_aux),    FIELD(17, desc, scale_a),
    FIELD(18, desc, scale_b),       FIELD(19, desc, scale_c),       FIELD(20, desc, scale_d),
    FIELD(22, desc, aux_type),      FIELD(26, desc, bias_type),     FIELD(31, desc, scale_mode[0]),
    FIELD(32, desc, scale_mode[1]), FIELD(33, desc, scale_mode[2]), FIELD(34, desc, scale_mode[3]),
};
static const struct attribute layout_attributes[] = {
    FIELD(0, layout, type), FIELD(1, layout, order), FIELD(2, layout, rows),   FIELD(3, layout, columns),
    FIELD(4, layout, ld),   FIELD(5, layout, batch), FIELD(6, layout, stride),
};
static const struct attribute preference_attributes[] = { FIELD(1, preference, workspace) };

static const struct attribute *attribute_of(const struct attribute *list, u32 n, s64 number)
{
    for (u32 i = 0; i < n; i++)
        if (list[i].number == number) return &list[i];
    return NULL;
}

/* What no result depends on is taken, and forgotten: hints for speed. */
static bool desc_hint(s64 number) { return number == 15 || number == 25; }

static s64 attribute_set(struct library_call *c, const struct attribute *list, u32 n, bool hint)
{
    const struct attribute *a = attribute_of(list, n, c->a.attribute);
    if (!c->a.desc || !bytes_readable(c->a.x, (u64)c->a.bytes)) return c->codes->invalid;
    if (!a && hint) return 0;
    if (!a) {
        library_wrong(c, "Leave the attribute at its default.",
                      "%s sets attribute %" PRId64 ", which Lockstep does not have.", c->name, c->a.attribute);
        return c->codes->unsupported;
    }
    if (c->a.bytes != a->bytes)
        return library_wrong(c, "Pass the size of the attribute's own type.",
                             "%s sets attribute %" PRId64 " with %" PRId64 " bytes, and it has %u.", c->name,
                             c->a.attribute, c->a.bytes, a->bytes);
    memcpy((u8 *)c->a.desc + a->at, c->a.x, a->bytes);
    return 0;
}

static s64 attribute_get(struct library_call *c, const struct attribute *list, u32 n)
{
    const struct attribute *a = attribute_of(list, n, c->a.attribute);
    u64 *written = c->a.written;
    if (!a || !c->a.desc) return c->codes->invalid;
    if (written) *written = a->bytes;
    if (!c->a.bytes && written) return 0;
    if (c->a.bytes < a->bytes || !c->a.x) return c->codes->invalid;
    memcpy(c->a.x, (u8 *)c->a.desc + a->at, a->bytes);
    return 0;
}

s64 lt_desc_set(struct library_call *c)
{
    return attribute_set(c, desc_attributes, COUNT_OF(desc_attributes), desc_hint(c->a.attribute));
}
s64 lt_desc_get(struct library_call *c) { return attribute_get(c, desc_attributes, COUNT_OF(desc_attributes)); }
s64 lt_layout_set(struct library_call *c)
{
    return attribute_set(c, layout_attributes, COUNT_OF(layout_attributes), false);
}
s64 lt_layout_get(struct library_call *c) { return attribute_get(c, layout_attributes, COUNT_OF(layout_attributes)); }
s64 lt_preference_set(struct library_call *c)
{
    return attribute_set(c, preference_attributes, COUNT_OF(preference_attributes), true);
}
s64 lt_preference_get(struct library_call *c)
{
    return attribute_get(c, preference_attributes, COUNT_OF(preference_attributes));
}

/* ---- products ---- */

/* A handle of cuBLAS is one of cuBLASLt, too. */
static bool handle_of(struct library_call *c)
{
    const struct library_handle *h = c->a.handle;
    return (cu_handle_is(h, CU_OF_LIBRARY) && h->kind == HANDLE_BLAS) || library_handle(c, HANDLE_LT);
}

/* What a product is made of. */
struct matmul {
    const struct desc *o;
    const struct layout *a, *b, *c, *d;
};

static bool matmul_of(const struct library_call *c, struct matmul *m)
{
    *m = (struct matmul){ c->a.desc, c->a.Adesc, c->a.Bdesc, c->a.Cdesc ? c->a.Cdesc : c->a.Ddesc, c->a.Ddesc };
    return bytes_readable(m->o, sizeof *m->o) && bytes_readable(m->a, sizeof *m->a) &&
           bytes_readable(m->b, sizeof *m->b) && bytes_readable(m->c, sizeof *m->c) &&
           bytes_readable(m->d, sizeof *m->d);
}

/* NULL: it is done here; else what of it is not. */
static const char *matmul_lacks(const struct matmul *m)
{
    u32 e = m->o->epilogue;
    const struct layout *const all[] = { m->a, m->b, m->c, m->d };
    for (u32 i = 0; i < COUNT_OF(all); i++) {
        if (number_type_of(all[i]->type) == ANY) return "cublasLtMatmul on elements of this type";
        if (all[i]->order > ORDER_ROWS)
            return "cublasLtMatmul on matrices in tiles (CUBLASLT_ORDER_COL32 and its like)";
    }
    if (m->c->order != m->d->order) return "cublasLtMatmul with C and D in different orders";
    if (m->o->mode > POINTERS_DEVICE) return "cublasLtMatmul with a vector as alpha";
    for (u32 i = 0; i < COUNT_OF(m->o->scale_mode); i++)
        if (m->o->scale_mode[i]) return "cublasLtMatmul with a scale for each block of a matrix";
    if ((e & ~(1u | EPILOGUE_RELU | EPILOGUE_BIAS | EPILOGUE_GELU | EPILOGUE_AUX)) ||
        (e & EPILOGUE_AUX && !(e & EPILOGUE_GELU)))
        return "cublasLtMatmul with this epilogue (bias, ReLU, GELU, and GELU with its input are there)";
    return NULL;
}

static void heuristic_fill(struct heuristic *h)
{
    enum { OURS = 0x6c6b };
    bytes_clear(h, sizeof *h);
    h->algorithm[0] = OURS;
    h->waves = 1;
}

s64 lt_heuristic(struct library_call *c)
{
    struct matmul m;
    int *found = c->a.written;
    if (!matmul_of(c, &m) || !cu_ok(found) || c->a.count < 1 || !bytes_readable(c->a.result, sizeof(struct heuristic)))
        return c->codes->invalid;
    const char *lacks = matmul_lacks(&m);
    *found = !lacks;
    if (lacks) library_refused(lacks);
    if (!lacks) heuristic_fill(c->a.result);
    return lacks ? c->codes->unsupported : 0;
}

s64 lt_algo_check(struct library_call *c)
{
    struct matmul m;
    if (!matmul_of(c, &m) || !bytes_readable(c->a.result, sizeof(struct heuristic))) return c->codes->invalid;
    heuristic_fill(c->a.result);
    if (bytes_readable(c->a.algorithm, ALGORITHM_BYTES)) memcpy(c->a.result, c->a.algorithm, ALGORITHM_BYTES);
    return matmul_lacks(&m) ? c->codes->unsupported : 0;
}

/* Sizes of op(A), op(B) and D, which have to fit. */
static bool sizes(struct library_call *c, const struct matmul *m)
{
    bool ta = m->o->transa, tb = m->o->transb;
    u64 rows = ta ? m->a->columns : m->a->rows, ak = ta ? m->a->rows : m->a->columns;
    u64 bk = tb ? m->b->columns : m->b->rows, columns = tb ? m->b->rows : m->b->columns;
    if (ak == bk && rows == m->d->rows && columns == m->d->columns) {
        c->a.m = (s64)rows, c->a.n = (s64)columns, c->a.k = (s64)ak;
        return true;
    }
    library_wrong(
        c,
        "Give the layouts the sizes of the matrices as they are stored, and say in the descriptor which of them "
        "are transposed.",
        "the layouts of %s do not fit: op(A) is %" PRIu64 " x %" PRIu64 ", op(B) %" PRIu64 " x %" PRIu64 ", D %" PRIu64
        " x %" PRIu64 ".",
        c->name, rows, ak, bk, columns, m->d->rows, m->d->columns);
    return false;
}

/* The matrix by columns that a layout is: transposed where it is by rows. */
static s64 turned(u32 trans, const struct layout *l) { return l->order == ORDER_ROWS ? (trans ? OP_N : OP_T) : trans; }

static enum number_type sums_in(const struct matmul *m)
{
    enum number_type a = number_type_of(m->a->type);
    return a == F64 || a == C64 || a == C32 ? a : number_is_whole(a) ? F64 : F32;
}

static void sides(struct library_call *c, const struct matmul *m)
{
    c->a.transa = turned(m->o->transa, m->a);
    c->a.transb = turned(m->o->transb, m->b);
    c->gemm.at = number_type_of(m->a->type), c->gemm.bt = number_type_of(m->b->type);
    c->gemm.lda = m->a->ld, c->gemm.ldb = m->b->ld;
    c->gemm.sa = m->a->stride, c->gemm.sb = m->b->stride;
    c->gemm.A = c->a.A, c->gemm.B = c->a.B;
    c->gemm.scale_a = m->o->scale_a, c->gemm.scale_b = m->o->scale_b;
}

/* The product of the transposed matrices, in the other order: D by rows is that by columns. */
static void exchanged(struct library_call *c)
{
#define EXCHANGE(x, y)             \
    do {                           \
        __typeof__(x) kept_ = (x); \
        (x) = (y);                 \
        (y) = kept_;               \
    } while (0)
    EXCHANGE(c->a.m, c->a.n);
    EXCHANGE(c->gemm.at, c->gemm.bt);
    EXCHANGE(c->gemm.lda, c->gemm.ldb);
    EXCHANGE(c->gemm.sa, c->gemm.sb);
    EXCHANGE(c->gemm.A, c->gemm.B);
    EXCHANGE(c->gemm.scale_a, c->gemm.scale_b);
#undef EXCHANGE
    s64 ta = c->a.transa;
    c->a.transa = c->a.transb ? OP_N : OP_T;
    c->a.transb = ta ? OP_N : OP_T;
}

static void epilogue(struct library_call *c, const struct matmul *m)
{
    const struct desc *o = m->o;
    c->gemm.epilogue = o->epilogue & (EPILOGUE_RELU | EPILOGUE_GELU);
    if (o->epilogue & EPILOGUE_BIAS) {
        enum number_type d = number_type_of(m->d->type);
        c->gemm.bias = o->bias;
        c->gemm.bias_type = o->bias_type != NO_TYPE ? number_type_of(o->bias_type) : d == E4M3 || d == E5M2 ? BF16 : d;
        c->gemm.stride_bias = o->stride_bias;
        c->gemm.bias_along_columns = m->d->order == ORDER_ROWS;
    }
    if (o->epilogue & EPILOGUE_AUX) {
        c->gemm.aux = o->aux;
        c->gemm.aux_type = o->aux_type != NO_TYPE ? number_type_of(o->aux_type) : number_type_of(m->d->type);
        c->gemm.ld_aux = o->ld_aux;
        c->gemm.stride_aux = o->stride_aux;
    }
}

s64 lt_matmul(struct library_call *c)
{
    struct matmul m;
    if (!handle_of(c)) return c->codes->unready;
    if (!matmul_of(c, &m)) return c->codes->invalid;
    const char *lacks = matmul_lacks(&m);
    if (lacks) {
        library_refused(lacks);
        return c->codes->unsupported;
    }
    if (!sizes(c, &m)) return c->codes->invalid;
    sides(c, &m);
    if (m.d->order == ORDER_ROWS) exchanged(c);
    c->gemm.ct = number_type_of(m.c->type), c->gemm.dt = number_type_of(m.d->type);
    c->gemm.compute = sums_in(&m);
    c->gemm.tf32 = (c->gemm.at == F32 || c->gemm.at == C32) && m.o->compute == COMPUTE_TF32;
    c->gemm.ldc = m.c->ld, c->gemm.ldd = m.d->ld, c->gemm.sc = m.c->stride, c->gemm.sd = m.d->stride;
    c->gemm.batch = m.d->batch;
    c->gemm.C = c->a.C, c->gemm.D = c->a.D;
    c->gemm.scale_d = m.o->scale_d;
    epilogue(c, &m);
    if (m.o->epilogue & EPILOGUE_BIAS && !c->gemm.bias)
        return library_wrong(c, "Set CUBLASLT_MATMUL_DESC_BIAS_POINTER.",
                             "the epilogue of %s adds a bias, and no pointer to it is set.", c->name);
    c->stream = c->a.stream;
    blas_workspace(c, c->a.workspace, (u64)c->a.bytes);
    return blas_gemm_enqueue(c, c->a.alpha, c->a.beta, number_type_of(m.o->scale), m.o->mode == POINTERS_DEVICE);
}
