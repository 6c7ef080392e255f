/* The table of forms, made from isa.def, and the search for the form of an opcode.
 *
 * Matching walks the row's syntax and the opcode's text side by side; a text meets few candidates, because forms are chained
 * by their first word ("add", "ld"). The front end asks once per distinct opcode of a module. */
#include "isa/isa.h"
#include "isa/expand.h"

#define TY(t) TY_##t
enum {  /* type names as they stand in expand.h -> enum ptx_type */
    TY_u8 = T_U8, TY_s8 = T_S8, TY_b8 = T_B8, TY_u16 = T_U16, TY_s16 = T_S16, TY_b16 = T_B16, TY_u32 = T_U32, TY_s32 = T_S32, TY_b32 = T_B32,
    TY_u64 = T_U64, TY_s64 = T_S64, TY_b64 = T_B64, TY_f32 = T_F32, TY_f64 = T_F64,
    WIDE_u16 = T_U32, WIDE_s16 = T_S32, WIDE_u32 = T_U64, WIDE_s32 = T_S64
};

#define FORM(id, syntax, kind, shape, t, d, mods, n) { #id, syntax, N_##id, kind, shape, t, d, mods, n, __LINE__ },
#define F_LANE(ty, id, syntax, shape, n) FORM(id, syntax, K_LANE, shape, TY(ty), TY(ty), 0, n)
#define F_FLOAT_f32(id, syntax, kind, shape, n) FORM(id, syntax, kind, shape, T_F32, T_F32, 0, n) FORM(id, syntax, kind, shape, T_F32, T_F32, MOD_FTZ, n) \
    FORM(id, syntax, kind, shape, T_F32, T_F32, MOD_SAT, n) FORM(id, syntax, kind, shape, T_F32, T_F32, MOD_FTZ | MOD_SAT, n)
#define F_FLOAT_f64(id, syntax, kind, shape, n) FORM(id, syntax, kind, shape, T_F64, T_F64, 0, n)
#define F_FLOAT(ty, id, syntax, shape, n) F_FLOAT_##ty(id, syntax, K_LANE, shape, n)
#define F_COUNT_(ty, id, syntax) FORM(id, syntax, K_LANE, SH_COUNT, TY(ty), T_U32, 0, 1)
#define F_WIDE(ty, id, syntax, shape, n) FORM(id, syntax, K_LANE, shape, TY(ty), WIDE_##ty, 0, n)
#define F_CMP(ty, id, syntax) FORM(id, syntax, K_CMP, SH_CMP, TY(ty), TY(ty), 0, 2)
#define F_FCMP_f32(id, syntax) FORM(id, syntax, K_CMP, SH_CMP, T_F32, T_F32, 0, 2) FORM(id, syntax, K_CMP, SH_CMP, T_F32, T_F32, MOD_FTZ, 2)
#define F_FCMP_f64(id, syntax) FORM(id, syntax, K_CMP, SH_CMP, T_F64, T_F64, 0, 2)
#define F_FCMP(ty, id, syntax) F_FCMP_##ty(id, syntax)
#define F_CVT(d, ty, id, syntax) FORM(id, syntax, K_LANE, SH_CONVERT, TY(ty), TY(d), 0, 1)
#define F_FCVT(d, ty, id, syntax) FORM(id, syntax, K_LANE, SH_CONVERT, TY(ty), TY(d), 0, 1) FORM(id, syntax, K_LANE, SH_CONVERT, TY(ty), TY(d), MOD_FTZ, 1)

#define LANE1(id, types, syntax, v) EACH_##types(F_LANE, id, syntax, SH_1, 1)
#define LANE2(id, types, syntax, v) EACH_##types(F_LANE, id, syntax, SH_2, 2)
#define LANE3(id, types, syntax, v) EACH_##types(F_LANE, id, syntax, SH_3, 3)
#define LANE4(id, types, syntax, v) EACH_##types(F_LANE, id, syntax, SH_4, 4)
#define FLOAT1(id, types, syntax, v) EACH_##types(F_FLOAT, id, syntax, SH_1, 1)
#define FLOAT2(id, types, syntax, v) EACH_##types(F_FLOAT, id, syntax, SH_2, 2)
#define FLOAT3(id, types, syntax, v) EACH_##types(F_FLOAT, id, syntax, SH_3, 3)
#define SHIFT(id, types, syntax, v) EACH_##types(F_LANE, id, syntax, SH_SHIFT, 2)
#define COUNT(id, types, syntax, v) EACH_##types(F_COUNT_, id, syntax)
#define WIDE2(id, types, syntax, v) EACH_##types(F_WIDE, id, syntax, SH_WIDE2, 2)
#define WIDE3(id, types, syntax, v) EACH_##types(F_WIDE, id, syntax, SH_WIDE3, 3)
#define CMP(id, types, syntax, v) EACH_##types(F_CMP, id, syntax)
#define FCMP(id, types, syntax, v) EACH_##types(F_FCMP, id, syntax)
#define SELECT(id, types, syntax, v) EACH_##types(F_LANE, id, syntax, SH_SELECT, 3)
#define CONVERT(id, pairs, syntax, v) EACH_##pairs(F_CVT, id, syntax)
#define FCONVERT(id, pairs, syntax, v) EACH_##pairs(F_FCVT, id, syntax)
#define PRED1(id, syntax, v) FORM(id, syntax, K_PRED, SH_PRED1, T_PRED, T_PRED, 0, 1)
#define PRED2(id, syntax, v) FORM(id, syntax, K_PRED, SH_PRED2, T_PRED, T_PRED, 0, 2)
#define MEM(id, types, syntax, aux) FORM(id, syntax, K_MEM, SH_NAMED, T_NONE, T_NONE, 0, 0)
#define WARP(id, types, syntax, aux) FORM(id, syntax, K_WARP, SH_NAMED, T_NONE, T_NONE, 0, 0)
#define CTRL(id, types, syntax, aux) FORM(id, syntax, K_CTRL, SH_NAMED, T_NONE, T_NONE, 0, 0)
const struct isa_form isa_forms[] = {
#include "isa/isa.def"
};
const u32 isa_count = COUNT_OF(isa_forms);

/* One ".word" at *s equals the next piece of the opcode? Then skip it there. */
static bool take(struct str *op, const char *word, size_t n)
{
    if (op->n < n || memcmp(op->p, word, n) || (op->n > n && op->p[n] != '.')) return false;
    op->p += n; op->n -= (u32)n;
    return true;
}

static bool take_type(struct str *op, enum ptx_type want)
{
    if (!op->n || op->p[0] != '.') return false;
    u32 n = 1;
    while (n < op->n && op->p[n] != '.') n++;
    enum ptx_type t = type_find((struct str){ op->p + 1, n - 1 });
    if (t == T_NONE || (want != T_NONE && t != want)) return false;
    op->p += n; op->n -= n;
    return true;
}

/* {.a|.b} and (.a|.b): tries each choice; *s ends behind the group. */
static bool take_choice(struct str *op, const char **s, u32 *mods)
{
    char close = **s == '{' ? '}' : ')';
    bool got = false;
    const char *p = *s + 1;
    while (*p != close) {
        if (*p == '~' || *p == '|') { p++; continue; }
        size_t n = strcspn(p, "|})");
        if (!got && take(op, p, n)) {
            got = true;
            if (n == 4 && !memcmp(p, ".ftz", 4)) *mods |= MOD_FTZ;
            if (n == 4 && !memcmp(p, ".sat", 4)) *mods |= MOD_SAT;
        }
        p += n;
    }
    *s = p + 1;
    return got || close == '}';
}

static bool matches(const struct isa_form *f, struct str op)
{
    const char *s = f->syntax;
    u32 mods = 0;
    while (*s && *s != ' ') {
        if (*s == '{' || *s == '(') {
            if (!take_choice(&op, &s, &mods)) return false;
        } else if (s[0] == '.' && (s[1] == 'T' || s[1] == 'D') && (s[2] == '.' || s[2] == ' ' || !s[2])) {
            if (!take_type(&op, s[1] == 'T' ? f->type : f->dtype)) return false;
            s += 2;
        } else {
            size_t n = 1 + strcspn(s + 1, ".{( ");
            if (!take(&op, s, n)) return false;
            s += n;
        }
    }
    return op.n == 0 && mods == f->mods;
}

/* ptxas takes the modifiers of memory instructions in any order (atom.add.release.gpu.u32): each one in some group of the row,
 * no group twice, every required group used, a type at the end. */
static bool matches_any_order(const struct isa_form *f, struct str op)
{
    const char *s = f->syntax;
    u32 used = 0, needed = 0, group = 0;
    bool typed = strstr(s, ".T") != NULL, have_type = false;
    while (op.n && op.p[0] != '.') { op.p++; op.n--; }
    for (const char *g = s; *g && *g != ' '; g++)
        if (*g == '(' || *g == '{') { if (*g == '(') needed |= 1u << group; group++; }
    while (op.n) {
        u32 n = 1, k = 0;
        bool hit = false;
        while (n < op.n && op.p[n] != '.') n++;
        for (const char *g = s; *g && *g != ' ' && !hit; g++) {
            if (*g != '(' && *g != '{') continue;
            const char *end = g + strcspn(g, ")}");
            for (const char *w = g + 1; w < end; ) {
                if (*w == '~' || *w == '|') { w++; continue; }
                size_t len = strcspn(w, "|)}");
                if (len == n && !memcmp(w, op.p, n) && !(used >> k & 1)) { used |= 1u << k; hit = true; break; }
                w += len;
            }
            g = end;
            k++;
        }
        if (!hit) {
            if (!typed || have_type || type_find((struct str){ op.p + 1, n - 1 }) == T_NONE) return false;
            have_type = true;
        }
        op.p += n; op.n -= n;
    }
    return have_type == typed && (used & needed) == needed;
}

int isa_find(struct str opcode)
{
    u32 n = 0;
    while (n < opcode.n && opcode.p[n] != '.') n++;
    for (u32 i = 0; i < isa_count; i++) {
        const char *s = isa_forms[i].syntax;
        if (!strncmp(s, opcode.p, n) && !(s[n] >= 'a' && s[n] <= 'z') && matches(&isa_forms[i], opcode)) return (int)i;
    }
    for (u32 i = 0; i < isa_count; i++) {
        const char *s = isa_forms[i].syntax;
        if (isa_forms[i].kind == K_MEM && !strncmp(s, opcode.p, n) && !(s[n] >= 'a' && s[n] <= 'z') && matches_any_order(&isa_forms[i], opcode)) return (int)i;
    }
    return -1;
}

int isa_form(enum isa_name name, enum ptx_type type, enum ptx_type dtype, u32 mods)
{
    for (u32 i = 0; i < isa_count; i++) {
        const struct isa_form *f = &isa_forms[i];
        if (f->name == name && f->type == type && f->dtype == dtype && f->mods == mods) return (int)i;
    }
    CHECK(!"no such form");
    return -1;
}

enum ptx_type isa_operand_type(const struct isa_form *f, u32 n)
{
    if (n > f->nsrc) return T_NONE;
    if (n == 0) return f->kind == K_CMP ? T_PRED : f->dtype;
    switch (f->shape) {
    case SH_4: return n >= 3 ? T_U32 : f->type;
    case SH_SHIFT: return n == 2 ? T_U32 : f->type;
    case SH_WIDE3: return n == 3 ? f->dtype : f->type;
    case SH_SELECT: return n == 3 ? T_PRED : f->type;
    default: return f->type;
    }
}
