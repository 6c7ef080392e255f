/* The messages of actors.cu, for both sides. */
#include <lockstep_ring_layout.h>
#define NUMBER(F, A, S) F(S, unsigned, value) F(S, unsigned, hops)
LK_RING_MESSAGE(number, 3, NUMBER)
enum { loan_number = 4 }; /* a row of unsigned numbers */
