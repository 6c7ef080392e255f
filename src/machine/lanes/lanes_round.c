/* The lane handlers of isa_round.def: f32 and f64 in the other rounding modes. The host's mode is set around the
 * loop, and this file compiled with -frounding-math, which would slow the common rows. The barriers keep the
 * arithmetic between the calls. */
#include <fenv.h>
#define LANES_FAMILY round
#define LANES_DEF "isa/isa_round.def"
#define ENTER round_enter(M);
#define LEAVE round_leave();
#include "isa/isa.h"

static void round_enter(u32 M)
{
    static const int mode[16] = { [RND_NONE] = FE_TONEAREST,
                                  [RND_RN] = FE_TONEAREST,
                                  [RND_RZ] = FE_TOWARDZERO,
                                  [RND_RM] = FE_DOWNWARD,
                                  [RND_RP] = FE_UPWARD };
    fesetround(mode[ROUND_OF(M)]);
    __asm__ volatile("" ::: "memory");
}

static void round_leave(void)
{
    __asm__ volatile("" ::: "memory");
    fesetround(FE_TONEAREST);
}

#include "lanes/lanes_pass.h"
