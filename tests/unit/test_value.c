/* What another engine needs to make code of a lane row is in the table: the text of its value, and what is done to
 * operands and results around it. */
#include "isa/isa.h"
#include "unit.h"

static const struct isa_form *form(enum isa_name name, enum ptx_type type, u32 mods)
{
    return &isa_forms[isa_form(name, type, type, mods)];
}

static bool is(const struct isa_form *f, const char *value) { return !strcmp(f->value, value); }

static void check_texts(void)
{
    for (u32 i = 0; i < isa_count; i++) {
        bool lane = isa_forms[i].kind <= K_PRED;
        if (lane != (isa_forms[i].value[0] != 0))
            fprintf(stderr, "%s: value \"%s\"\n", isa_forms[i].id, isa_forms[i].value);
        UNIT(lane == (isa_forms[i].value[0] != 0));
        UNIT(lane == (isa_forms[i].lower != LOWER_named));
        UNIT(lane || !isa_forms[i].edges);
    }
    UNIT(is(form(N_add, T_S16, 0), "(T)((U)a + (U)b)"));
    UNIT(is(form(N_selp, T_F64, 0), "SEL(p, a, b)"));
    UNIT(is(form(N_setp_le, T_U64, 0), "a <= b"));
    UNIT(is(form(N_fsetp_geu, T_F32, MOD_FTZ), "!(a < b)"));
    UNIT(is(form(N_mov_pred, T_PRED, 0), "a"));
    UNIT(is(form(N_addc, T_U32, 0), "(T)((U)a + (U)b + (U)c)"));
    UNIT(is(&isa_forms[isa_form(N_addc_out, T_U32, T_U32, 0)], "CARRY_ADD(a, b, c)"));
    UNIT(is(&isa_forms[isa_form(N_cvt, T_S8, T_U64, 0)], "(D)a"));
}

static void check_edges(void)
{
    UNIT(form(N_add, T_U32, 0)->edges == 0);
    UNIT(form(N_fadd, T_F32, 0)->edges == EDGE_NAN);
    UNIT(form(N_fadd, T_F32, MOD_FTZ)->edges == (EDGE_FTZ_IN | EDGE_FTZ_OUT | EDGE_NAN));
    UNIT(form(N_fadd, T_F32, MOD_SAT)->edges == (EDGE_SAT | EDGE_NAN));
    UNIT(form(N_fadd, T_F64, 0)->edges == 0);
    UNIT(form(N_fsetp_lt, T_F32, MOD_FTZ)->edges == EDGE_FTZ_IN);
    UNIT(form(N_fsetp_lt, T_F32, 0)->edges == 0);
    UNIT(form(N_radd, T_F32, 0)->edges == (EDGE_FTZ_IN | EDGE_ROUND | EDGE_FTZ_OUT | EDGE_SAT | EDGE_RELU | EDGE_NAN));
    UNIT(form(N_radd, T_F64, 0)->edges == (EDGE_ROUND | EDGE_SAT));
    UNIT(form(N_rcp_approx, T_F32, 0)->edges == 0); /* the words of its value do all of it */
    UNIT(form(N_hadd, T_F16, 0)->edges == 0);
    UNIT(isa_forms[isa_form(N_cvt_rzi, T_F32, T_S32, 0)].edges == EDGE_FTZ_IN);
    UNIT(isa_forms[isa_form(N_cvt_rn, T_F64, T_F32, 0)].edges == (EDGE_FTZ_OUT | EDGE_SAT | EDGE_RELU | EDGE_NAN));
}

/* A set is made from the comparison of its relation, extended precision has its carry. */
static void check_partners(void)
{
    for (u32 i = 0; i < isa_count; i++) {
        const struct isa_form *f = &isa_forms[i];
        UNIT((f->partner != N_COUNT) == (f->lower == LOWER_set || f->lower == LOWER_carry));
        UNIT((f->relation != REL_none) ==
             (f->shape == SHAPE_COMPARE || f->shape == SHAPE_FCOMPARE || f->lower == LOWER_set));
        for (u32 k = 0; f->lower == LOWER_set && k < isa_count; k++)
            UNIT(isa_forms[k].name != f->partner || isa_forms[k].relation == f->relation);
    }
}

int main(void)
{
    check_texts();
    check_edges();
    check_partners();
    return unit_done();
}
