/* call_token.h: the words for what a row of libcuda.def or cudart.def asks of a call. Included in front of a table it
 * defines them, and after it no more: they are short, and mean something there alone. Each is a statement over w, the
 * arguments (struct cu_word), names, their names, and here, what was found (struct cu_here, cu_check.h).
 *
 * The checks of a row, in the order in which they are asked; n: a parameter, 0 for the first:
 *   BEGIN              cuInit was called, and by this process
 *   CURRENT            a context is current: here.context
 *   CONTEXT(n)         the same, or that of a stream, which is looked at later
 *   STREAM(n)          a stream: here.stream, and here.context
 *   DEVICE(n)          the ordinal of a device: here.device
 *   NEAR               none: here.device, the current context's, or the first one
 *   FUNCTION(n)        a kernel, CUfunction or CUkernel: here.function
 *   IS(n, KIND, E)     a handle of this kind (enum cu_kind); CUDA_ERROR_INVALID_E: it is not one
 *   MAY_BE(n, KIND, E) the same, or NULL
 *   NODE(n, TYPE)      a node of a graph, of this type
 *   OUT(n), IN(n)      a pointer to what the call writes, reads: of as many bytes as its type in CU_DEFINE has
 *   MAYBE(n)           the same, or NULL
 *   BYTES(n, bytes)    a pointer to so many bytes
 *   LIST(n, m)         a pointer to as many as parameter m says
 *   SET(n), ZERO(n)    not 0; 0
 *   MASK(n, bits)      no other bits than these
 *   MOST(n, value)     at most this, without a sign
 *   MORE(n)            more than 0, with a sign
 * Those without an error of their own come to CUDA_ERROR_INVALID_VALUE.
 *
 * What is asked by hand, in the functions (about 160 places that ask bytes_readable, cu_ok or cu_handle_is), is of
 * these kinds, which no row can say:
 *   - what a struct or a list of the caller's leads to (nodes of a list, arrays of a texture, kernelParams, options);
 *   - a size that depends on another argument's value (an attribute of 4 or 8 bytes), or on the release of the caller;
 *   - an answer that is written where that can be, and left out where not: no error;
 *   - an order that a driver has and a row has not: something is done, or another error returned, before the pointer is
 *     looked at (cuGetErrorName, cuCtxPopCurrent, cuMemCreate);
 *   - helpers after several calls, of which some have no argument of that kind; structs passed by value. */
#ifndef BEGIN
#define CU_WORD(p) w[p].value
#define CU_AT(p) ((const void *)(uintptr_t)CU_WORD(p))
/* A refused argument: how is a call of cu_reason.h, which says it in words. */
#define CU_WANT(condition, error, how) \
    do {                               \
        if (!(condition)) {            \
            how;                       \
            return CU_INVALID_##error; \
        }                              \
    } while (0);
#define CU_POINTER(n, bytes) cu_wrong_pointer(names, n, CU_AT(n), bytes)
#define CU_NUMBER(n, ...) cu_wrong_number(names, n, CU_WORD(n), __VA_ARGS__)
#define CU_TRY(call)           \
    do {                       \
        cu_result r_ = (call); \
        if (r_) return r_;     \
    } while (0);

#define BEGIN CU_TRY(cu_begin())
#define CURRENT CU_TRY(cu_current(&here->context))
#define CONTEXT(n) CU_TRY(cu_current_for((void *)(uintptr_t)CU_WORD(n), &here->context))
#define STREAM(n) \
    CONTEXT(n)    \
    CU_TRY(cu_stream_of(here->context, (void *)(uintptr_t)CU_WORD(n), &here->stream))
#define DEVICE(n)                                                   \
    CU_WANT((here->device = cu_device_at((int)CU_WORD(n))), DEVICE, \
            CU_NUMBER(n, "the ordinal of a device: there are %u", cu_process.devices))
#define NEAR here->device = cu_current(&here->context) ? cu_device_at(0) : here->context->device;
#define FUNCTION(n)                                                                   \
    CU_WANT((here->function = cu_function_of((void *)(uintptr_t)CU_WORD(n))), HANDLE, \
            cu_wrong_handle(names, n, CU_AT(n), CU_KERNEL))
#define IS(n, kind, error) \
    CU_WANT(cu_handle_is(CU_AT(n), CU_##kind), error, cu_wrong_handle(names, n, CU_AT(n), CU_##kind))
#define MAY_BE(n, kind, error) \
    CU_WANT(!CU_WORD(n) || cu_handle_is(CU_AT(n), CU_##kind), error, cu_wrong_handle(names, n, CU_AT(n), CU_##kind))
#define NODE(n, type) CU_WANT(cu_node_is(CU_AT(n), CU_NODE_##type), VALUE, cu_wrong_handle(names, n, CU_AT(n), CU_NODE))
#define OUT(n) CU_WANT(bytes_readable(CU_AT(n), w[n].bytes), VALUE, CU_POINTER(n, w[n].bytes))
#define IN(n) OUT(n)
#define MAYBE(n) CU_WANT(!CU_WORD(n) || bytes_readable(CU_AT(n), w[n].bytes), VALUE, CU_POINTER(n, w[n].bytes))
#define BYTES(n, bytes) CU_WANT(bytes_readable(CU_AT(n), bytes), VALUE, CU_POINTER(n, bytes))
#define LIST(n, m) \
    CU_WANT(bytes_readable(CU_AT(n), CU_WORD(m) * w[n].bytes), VALUE, CU_POINTER(n, CU_WORD(m) * w[n].bytes))
#define SET(n) CU_WANT(CU_WORD(n), VALUE, CU_NUMBER(n, "more than 0"))
#define ZERO(n) CU_WANT(!CU_WORD(n), VALUE, CU_NUMBER(n, "0"))
#define MASK(n, bits) \
    CU_WANT(!(CU_WORD(n) & ~(u64)(bits)), VALUE, CU_NUMBER(n, "made of the bits 0x%x", (unsigned)(bits)))
#define MOST(n, value) CU_WANT(CU_WORD(n) <= (value), VALUE, CU_NUMBER(n, "at most %" PRIu64, (u64)(value)))
#define MORE(n) CU_WANT((s64)CU_WORD(n) > 0, VALUE, CU_NUMBER(n, "more than 0"))
#else
#undef CU_WORD
#undef CU_AT
#undef CU_WANT
#undef CU_POINTER
#undef CU_NUMBER
#undef CU_TRY
#undef BEGIN
#undef CURRENT
#undef CONTEXT
#undef STREAM
#undef DEVICE
#undef NEAR
#undef FUNCTION
#undef IS
#undef MAY_BE
#undef NODE
#undef OUT
#undef IN
#undef MAYBE
#undef BYTES
#undef LIST
#undef SET
#undef ZERO
#undef MASK
#undef MOST
#undef MORE
#endif
