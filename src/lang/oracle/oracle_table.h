/* Every row of oracle.def through the macros that the includer has defined; what it has not defined is skipped. The
 * macros are gone afterwards. */
#ifndef LEAF
#define LEAF(...)
#endif
#ifndef MAP1
#define MAP1(...)
#endif
#ifndef MAP2
#define MAP2(...)
#endif
#ifndef MAP3
#define MAP3(...)
#endif
#ifndef MOVE
#define MOVE(...)
#endif
#ifndef SUMS
#define SUMS(...)
#endif
#ifndef OWN
#define OWN(...)
#endif
#include "oracle/oracle.def"
#undef LEAF
#undef MAP1
#undef MAP2
#undef MAP3
#undef MOVE
#undef SUMS
#undef OWN
