/* Operations that stand in headers of CUDA's own libraries, by the source file that the text names for them. */
#include "flow/analyses.h"

static bool contains(struct str s, const char *what)
{
    u32 n = (u32)strlen(what);
    for (u32 k = 0; k + n <= s.n; k++)
        if (!memcmp(s.p + k, what, n)) return true;
    return false;
}

bool lop_in_library(const struct lowered *l, u32 op)
{
    static const char *const header[] = { "cooperative_groups.h", "cooperative_groups/details/", "/cccl/",
                                          "/cuda/std/" };
    if (contains(l->func->name, "_cuda_device_runtime_cu_")) return true; /* a kernel of libcudadevrt */
    const struct ptx_insn *i = l->op[op].src;
    struct str file = i && i->loc ? ptx_file(l->func->module, i->loc->file) : (struct str){ "", 0 };
    for (u32 k = 0; k < COUNT_OF(header); k++)
        if (contains(file, header[k])) return true;
    return false;
}

/* Triton's language has no shared memory: its compiler moves tiles there, under a name of its own. */
bool shared_is_compilers(const struct lowered *l) { return map_get(&l->func->module->symbols, str_of("global_smem")); }

/* Atomics of 8 and 16 bits in libcu++ are loads of that size and compare-and-swaps of the word around it. */
void subword_find(struct lowered *l)
{
    for (u32 k = 0; k < l->nsite; k++) {
        struct site *s = &l->site[k];
        bool strong = site_is_atomic(s) || s->sem != SEM_WEAK;
        if (strong && s->width < 4 && s->vec == 1 && lop_in_library(l, s->op)) s->flags |= SITE_WORD;
    }
}
