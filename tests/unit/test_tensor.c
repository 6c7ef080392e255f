/* The model of a tensor core against results of an H200 (tests/truth/tensor.txt): one dot product a line, every type,
 * with cancellation, subnormals, overflow, infinities and NaNs. */
#include "isa/isa.h"
#include "lanes/tensor.h"
#include "unit.h"
#include <stdlib.h>

static const struct {
    const char *name;
    enum tensor_type t;
} types[] = {
    { "f16", TENSOR_F16 },   { "bf16", TENSOR_BF16 }, { "tf32", TENSOR_TF32 }, { "e4m3", TENSOR_E4M3 },
    { "e5m2", TENSOR_E5M2 }, { "f32", TENSOR_F32 },   { "f64", TENSOR_F64 },   { "s8", TENSOR_S8 },
    { "u8", TENSOR_U8 },     { "s4", TENSOR_S4 },     { "u4", TENSOR_U4 },     { "b1", TENSOR_B1 },
};

/* The next type of a name; none: as before. */
static const char *type_read(const char *s, enum tensor_type *out)
{
    for (u32 k = 0; k < COUNT_OF(types); k++) {
        size_t n = strlen(types[k].name);
        if (strncmp(s, types[k].name, n)) continue;
        *out = types[k].t;
        return s + n;
    }
    return s;
}

/* mma_f32_e4m3e5m2_k32, sp_s8_k64_sat, wg_b1_and ...: family, accumulator of floats, types of a and b, the rest. */
static struct tensor form_of(const char *name, u32 n)
{
    struct tensor t = { .k = n, .round = RND_RN };
    const char *s = strchr(name, '_') + 1;
    bool mma = !strncmp(name, "mma_", 4) || !strncmp(name, "sp_", 3);
    s = type_read(s, &t.d);
    if (t.d == TENSOR_F64 || t.d >= TENSOR_S8) {
        t.a = t.b = t.d;
        t.d = t.d == TENSOR_F64 ? TENSOR_F64 : TENSOR_S32;
        s = type_read(s, &t.b);
    } else {
        s = type_read(s + 1, &t.a);
        t.b = t.a;
        s = type_read(s, &t.b);
    }
    t.c = t.d;
    t.saturate = strstr(s, "_sat") != NULL;
    t.conjunction = strstr(s, "_and") != NULL;
    t.round = strstr(s, "_rz") ? RND_RZ : strstr(s, "_rm") ? RND_RM : strstr(s, "_rp") ? RND_RP : RND_RN;
    if (mma && tensor_is_fp8(t.a)) t.way = TENSOR_FP8_HALF;
    if (strstr(s, "m8k4") && t.a == TENSOR_F16) t.way = TENSOR_FMA_CHAIN;
    if (!strncmp(name, "wmma_f32_tf32", 13)) t.way = TENSOR_BY_FOUR;
    return t;
}

enum { MOST = 64 };

static u64 result_of(const struct tensor *t, const u64 *a, const u64 *b, u64 c)
{
    u32 x[MOST], y[8 * MOST], in[8], out[8];
    if (t->d == TENSOR_F64) {
        tensor_multiply_f64(t, 1, 1, a, b, &c, &c);
        return c;
    }
    for (u32 k = 0; k < t->k; k++) {
        x[k] = (u32)a[k];
        for (u32 n = 0; n < 8; n++) y[n * t->k + k] = (u32)b[k];
    }
    for (u32 n = 0; n < 8; n++) in[n] = (u32)c;
    tensor_multiply(t, 1, 8, x, y, in, out);
    for (u32 n = 1; n < 8; n++) UNIT_EQ(out[n], out[0]);
    return out[0];
}

/* Random numbers: of one size, of many, zeros, subnormals. */
static u32 any_half(u32 *seed, bool bf16, u32 kind)
{
    u32 x = (*seed = *seed * 1664525 + 1013904223) >> 8, e = bf16 ? 0x3f80 : 0x3c00;
    if (kind == 0) return (x & (bf16 ? 0x807f : 0x83ff)) | e;
    if (kind == 1 && x >> 20 & 1) return x & 0x8000;
    if (kind == 2) return x & 0xffff;
    return bf16 ? (x & 0x87ff) + 0x3c00 : x & 0xbfff;
}

/* The way straight from the registers gives what the model gives, or says that it cannot. */
static void registers(tensor_direct *direct)
{
    u32 seed = 1, taken = 0;
    for (u32 round = 0; round < 4000; round++) {
        u32 a[4][32], b[2][32], c[4][32], d[4][32], x[16 * 16], y[8 * 16], in[16 * 8], out[16 * 8];
        struct tensor_registers t = { .bf16 = round & 1, .k = round & 2 ? 16 : 8 };
        enum tensor_type type = t.bf16 ? TENSOR_BF16 : TENSOR_F16;
        struct tensor model = { .a = type, .b = type, .c = TENSOR_F32, .d = TENSOR_F32, .k = t.k };
        u32 kind = round / 4 % 4;
        for (u32 r = 0; r < 4; r++) {
            t.a[r] = a[r], t.c[r] = c[r], t.d[r] = d[r];
            if (r < 2) t.b[r] = b[r];
            for (u32 l = 0; l < 32; l++) {
                u32 row = l / 4 + r % 2 * 8, col = l % 4 * 2 + r / 2 * 8;
                a[r][l] = b[r % 2][l] = 0;
                for (u32 h = 0; h < 2; h++) a[r][l] |= any_half(&seed, t.bf16, kind) << 16 * h;
                if (col < t.k)
                    for (u32 h = 0; h < 2; h++) x[row * t.k + col + h] = a[r][l] >> 16 * h & 0xffff;
                f32 v = round % 3 ? (f32)((s32)seed) * 0x1p-28f : 0;
                memcpy(&c[r][l], &v, 4);
                in[(l / 4 + r / 2 * 8) * 8 + l % 4 * 2 + r % 2] = c[r][l];
            }
        }
        for (u32 r = 0; r < t.k / 8; r++)
            for (u32 l = 0; l < 32; l++)
                for (u32 h = 0; h < 2; h++) {
                    u32 v = any_half(&seed, t.bf16, kind);
                    b[r][l] |= v << 16 * h;
                    y[l / 4 * t.k + l % 4 * 2 + r * 8 + h] = v;
                }
        if (!direct(&t)) continue;
        taken++;
        tensor_multiply(&model, 16, 8, x, y, in, out);
        for (u32 r = 0; r < 4; r++)
            for (u32 l = 0; l < 32; l++) UNIT_EQ(d[r][l], out[(l / 4 + r / 2 * 8) * 8 + l % 4 * 2 + r % 2]);
    }
    UNIT(taken > 2000);
}

int main(void)
{
    registers(tensor_warp);
    registers(TENSOR_NEWER(tensor_warp));
    FILE *f = fopen("tests/truth/tensor.txt", "r");
    char line[4096], name[64];
    u32 n, lines = 0;
    CHECK(f);
    while (fgets(line, sizeof line, f)) {
        u64 c, d, v[2 * MOST];
        int at;
        if (line[0] == '#' || sscanf(line, "%63s %u %" SCNx64 " %" SCNx64 "%n", name, &n, &c, &d, &at) != 4) continue;
        CHECK(n <= MOST);
        char *p = line + at;
        for (u32 k = 0; k < 2 * n; k++) v[k] = strtoull(p, &p, 16);
        struct tensor t = form_of(name, n);
        u64 got = result_of(&t, v, v + n, c);
        if (got != d) printf("%s: %" PRIx64 ", an H200 has %" PRIx64 "\n", name, got, d);
        UNIT_EQ(got, d);
        lines++;
    }
    fclose(f);
    UNIT(lines >= 1200);
    return unit_done();
}
