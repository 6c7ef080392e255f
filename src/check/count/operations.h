/* operations.h: the arithmetic that an instruction does, as its text says it: what counts as work in a roofline. */
#ifndef LOCKSTEP_OPERATIONS_H
#define LOCKSTEP_OPERATIONS_H
#include "code/mma.h"
#include "code/code.h"

/* Of the ordinary units, then of the tensor cores. */
#define OPERATION_TYPES(X)   \
    X(F64, "f64")            \
    X(F32, "f32")            \
    X(F16, "f16")            \
    X(INT, "int")            \
    X(T_F64, "tensor_f64")   \
    X(T_TF32, "tensor_tf32") \
    X(T_F16, "tensor_f16")   \
    X(T_F8, "tensor_f8")     \
    X(T_F4, "tensor_f4")     \
    X(T_I8, "tensor_i8")     \
    X(T_B1, "tensor_b1")
enum operation_type {
#define X(id, name) OPS_##id,
    OPERATION_TYPES(X)
#undef X
        OPS_TYPES
};
extern const char *const operation_name[OPS_TYPES];

struct operations {
    enum operation_type type;
    u32 each;     /* operations of a lane; of the whole warp for a product of matrices. 0: it does none */
    bool of_warp; /* the latter */
};
/* An addition, a multiplication, a division, a root is one operation, a fused multiply-add two, of packed types for
 * each element. Moves, conversions, comparisons, logic and shifts do not count. A product of m x k and k x n elements
 * is 2 m n k; of wgmma each of the four warps has a quarter; of a sparse one the zeros count, as in the figures of
 * cards for dense ones. The shape of tcgen05.mma is no part of its text: it is counted when it is started
 * (count_flight). */
enum operation_type operation_of_tensor(enum tensor_type t); /* of a product whose first matrix has such elements */
struct operations operations_of(const struct lowered *l, const struct lop *o);
#endif
