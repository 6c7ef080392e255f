/* Handles of cuBLAS: what a handle keeps, and copies of vectors and matrices. What is asked of the arguments of all
 * functions is here, too. */
#include "libraries/blas.h"
#include "driver/cu_api.h"
#include "driver/cu_mem.h"
#include <inttypes.h>

enum { VERSION_12 = 120900, VERSION_13 = 130000 };

struct blas_handle *blas_begin(struct library_call *c)
{
    struct blas_handle *h = library_handle(c, HANDLE_BLAS);
    if (h) c->stream = h->stream;
    return h;
}

bool blas_on_device(const struct blas_handle *h) { return h->mode == POINTERS_DEVICE; }

bool blas_sizes(const struct library_call *c, s64 m, s64 n, s64 k, s64 batch)
{
    if (m >= 0 && n >= 0 && k >= 0 && batch >= 0) return true;
    const char *which = m < 0 ? "m" : n < 0 ? "n" : k < 0 ? "k" : "the number of matrices";
    s64 value = m < 0 ? m : n < 0 ? n : k < 0 ? k : batch;
    library_wrong(c, "Pass sizes that are 0 or more.", "%s of %s is %" PRId64 ".", which, c->name, value);
    return false;
}

bool blas_leading(const struct library_call *c, const char *ld, s64 value, const char *matrix, s64 rows,
                  const char *why, s64 columns)
{
    if (value >= MAX_OF(rows, 1)) return true;
    bool by_rows = value == columns;
    library_wrong(c,
                  by_rows
                      ? "cuBLAS has matrices by columns: for matrices by rows, as in C, exchange A and B, and m and n; "
                        "the result is then by rows, too."
                      : "Pass at least the rows of the matrix as it is stored.",
                  "%s %" PRId64 " of %s is below the %" PRId64 " rows of %s (%s)%s", ld, value, c->name, rows, matrix,
                  why, by_rows ? ": is it stored by rows?" : ".");
    return false;
}

bool blas_increments(const struct library_call *c, bool y)
{
    if (c->a.incx && (!y || c->a.incy)) return true;
    library_wrong(c, "Pass 1 for elements that lie side by side.", "%s of %s is 0.", c->a.incx ? "incy" : "incx",
                  c->name);
    return false;
}

/* ---- settings ---- */

s64 blas_create(struct library_call *c)
{
    void **out = c->a.handle;
    if (!cu_ok(out)) return c->codes->invalid;
    struct blas_handle *h = library_handle_new(c, HANDLE_BLAS, sizeof *h);
    if (!h) return c->codes->unready;
    *out = library_handle_open(h);
    return 0;
}
s64 blas_destroy(struct library_call *c) { return library_handle_end(c, HANDLE_BLAS); }

s64 blas_version(struct library_call *c)
{
    int *out = c->a.result;
    if (!cu_ok(out)) return c->codes->invalid;
    *out = library_release() == 12 ? VERSION_12 : VERSION_13;
    return 0;
}

#define GET(function, type, value)                 \
    s64 function(struct library_call *c)           \
    {                                              \
        struct blas_handle *h = blas_begin(c);     \
        type *out = c->a.result;                   \
        if (!h) return c->codes->unready;          \
        if (!cu_ok(out)) return c->codes->invalid; \
        *out = h->value;                           \
        return 0;                                  \
    }
GET(blas_get_stream, void *, stream)
GET(blas_get_pointer_mode, s32, mode)
GET(blas_get_atomics, s32, atomics)
GET(blas_get_math, s32, math)
GET(blas_get_sms, s32, sms)
#undef GET

#define SET(function, field, most)                                                                        \
    s64 function(struct library_call *c)                                                                  \
    {                                                                                                     \
        struct blas_handle *h = blas_begin(c);                                                            \
        if (!h) return c->codes->unready;                                                                 \
        if (c->a.mode < 0 || c->a.mode > (most))                                                          \
            return library_wrong(c, "Pass a constant of cublas_v2.h.",                                    \
                                 "%s is given %" PRId64 ", which it does not know.", c->name, c->a.mode); \
        h->field = (s32)c->a.mode;                                                                        \
        return 0;                                                                                         \
    }
SET(blas_set_pointer_mode, mode, 1)
SET(blas_set_atomics, atomics, 1)
SET(blas_set_math, math, 31)
SET(blas_set_sms, sms, INT32_MAX)
#undef SET

/* The workspace becomes the library's own again, as cuBLAS has it. */
s64 blas_set_stream(struct library_call *c)
{
    struct blas_handle *h = blas_begin(c);
    lk_stream *stream;
    struct cu_context *context;
    if (!h) return c->codes->unready;
    if (cu_current_for(c->a.stream, &context) || cu_stream_of(context, c->a.stream, &stream))
        return library_wrong(c, "Pass a stream that lives, or 0.",
                             "%s is given a stream that is not one, or was destroyed.", c->name);
    h->stream = c->a.stream;
    h->workspace = NULL;
    h->bytes = 0;
    return 0;
}

s64 blas_set_workspace(struct library_call *c)
{
    struct blas_handle *h = blas_begin(c);
    if (!h) return c->codes->unready;
    if ((u64)(uintptr_t)c->a.workspace % 256)
        return library_wrong(c, "Pass an address that cudaMalloc gave.",
                             "the workspace of %s is not at a multiple of 256 bytes.", c->name);
    h->workspace = c->a.bytes ? c->a.workspace : NULL;
    h->bytes = (u64)c->a.bytes;
    return 0;
}

/* ---- words ---- */

static const char *const status[][2] = {
    [0] = { "CUBLAS_STATUS_SUCCESS", "success" },
    [1] = { "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized" },
    [3] = { "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed" },
    [7] = { "CUBLAS_STATUS_INVALID_VALUE", "an unsupported value or parameter was passed to the function" },
    [8] = { "CUBLAS_STATUS_ARCH_MISMATCH",
            "the function requires an architectural feature absent from the current device" },
    [11] = { "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed" },
    [13] = { "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU" },
    [14] = { "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed" },
    [15] = { "CUBLAS_STATUS_NOT_SUPPORTED", "the functionality requested is not supported" },
    [16] = { "CUBLAS_STATUS_LICENSE_ERROR", "an error was detected when checking the current licensing" },
};
static s64 status_text(s64 code, u32 which)
{
    const char *text = code >= 0 && code < (s64)COUNT_OF(status) ? status[code][which] : NULL;
    return (s64)(intptr_t)(text ? text : which ? "unknown" : "CUBLAS_STATUS_UNKNOWN");
}
s64 blas_status_name(struct library_call *c) { return status_text(c->a.mode, 0); }
s64 blas_status_words(struct library_call *c) { return status_text(c->a.mode, 1); }

/* ---- copies between the host and the device ---- */

/* `rows` pieces of `width` bytes, with these bytes from one to the next. The call without a stream waits. */
static s64 copy(struct library_call *c, void *to, s64 to_pitch, const void *from, s64 from_pitch, s64 width, s64 rows,
                bool to_device)
{
    bool async = strstr(c->name, "Async") != NULL;
    if (width <= 0 || rows <= 0) return 0;
    if (!library_ready()) return c->codes->unready;
    if (to_pitch == width && from_pitch == width) {
        width *= rows;
        rows = 1;
    }
    for (s64 i = 0; i < rows; i++) {
        cu_result r = cu_copy_linear((u64)(uintptr_t)to + (u64)(i * to_pitch), to_device ? SIDE_DEVICE : SIDE_HOST,
                                     (u64)(uintptr_t)from + (u64)(i * from_pitch), to_device ? SIDE_HOST : SIDE_DEVICE,
                                     (u64)width, c->a.stream, async);
        if (r) return 11; /* CUBLAS_STATUS_MAPPING_ERROR */
    }
    return 0;
}

static s64 vector_copy(struct library_call *c, bool to_device)
{
    s64 size = c->a.size;
    if (size <= 0 || c->a.incx <= 0 || c->a.incy <= 0)
        return library_wrong(c, "Pass the bytes of an element, and 1 for elements that lie side by side.",
                             "%s is called with elements of %" PRId64 " bytes, incx %" PRId64 ", incy %" PRId64 ".",
                             c->name, size, c->a.incx, c->a.incy);
    return copy(c, c->a.y, c->a.incy * size, c->a.x, c->a.incx * size, size, c->a.n, to_device);
}
s64 blas_set_vector(struct library_call *c) { return vector_copy(c, true); }
s64 blas_get_vector(struct library_call *c) { return vector_copy(c, false); }

static s64 matrix_copy(struct library_call *c, bool to_device)
{
    s64 size = c->a.size;
    if (!blas_sizes(c, c->a.m, c->a.n, 0, 0) || !blas_leading(c, "lda", c->a.lda, "A", c->a.m, "rows", c->a.n) ||
        !blas_leading(c, "ldb", c->a.ldb, "B", c->a.m, "rows", c->a.n))
        return c->codes->invalid;
    return copy(c, c->a.B, c->a.ldb * size, c->a.A, c->a.lda * size, c->a.m * size, c->a.n, to_device);
}
s64 blas_set_matrix(struct library_call *c) { return matrix_copy(c, true); }
s64 blas_get_matrix(struct library_call *c) { return matrix_copy(c, false); }
