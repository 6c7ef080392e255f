/* The instruction set of the public interface: what isa.def has, form by form. */
#include "api/host.h"
#include "isa/isa.h"

int lk_isa_form(uint32_t i, lk_isa_info *info)
{
    static const char *const family[FAM_COUNT] = { "int", "float", "round", "half", "cvt", "video", "named" };
    if (i >= isa_count || !info) return 0;
    const struct isa_form *f = &isa_forms[i];
    *info = (lk_isa_info){ .id = f->id, .family = family[f->family], .row = f->syntax, .sources = f->nsrc };
    isa_syntax(f, info->syntax, sizeof info->syntax);
    for (u32 k = 0; k < 5; k++) info->type[k] = type_name[f->op[k]];
    return 1;
}

int lk_isa_opcode(uint32_t i, uint32_t n, char *out, size_t size)
{
    return i < isa_count && out && isa_opcode(&isa_forms[i], n, out, size);
}
