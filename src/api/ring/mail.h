// mail.h: the types of messages between the actors of src/api/ring/mail.cu, for both sides.
#include <lockstep_ring_layout.h>
/* clang-format off */
#define RUN(F, A, S)                                                                                                  \
    F(S, lk_ring_u32, token) F(S, lk_ring_u32, hop) F(S, lk_ring_u32, hops) F(S, lk_ring_u32, step)                   \
    F(S, lk_ring_u32, units) F(S, lk_ring_u32, delay) F(S, lk_ring_u32, collector) A(S, lk_ring_u32, word, 33)
/* clang-format on */
LK_RING_MESSAGE(run, 1, RUN)
#define PART(F, A, S) F(S, lk_ring_u32, token) F(S, lk_ring_u32, serial) A(S, lk_ring_u32, word, 33)
LK_RING_MESSAGE(part, 2, PART)
