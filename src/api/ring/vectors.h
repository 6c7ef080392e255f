/* The messages of vectors.cu, for both sides. */
#include <lockstep_ring_layout.h>
/* `count` numbers a, then as many b, follow the header; the response is as many sums */
#define VECTOR_PAIR(F, A, S) F(S, unsigned, count) F(S, unsigned, scale)
LK_RING_MESSAGE(vector_pair, 1, VECTOR_PAIR)
#define POINT(F, A, S) F(S, float, x) F(S, float, y) A(S, unsigned, tag, 6)
LK_RING_MESSAGE(point, 2, POINT)
