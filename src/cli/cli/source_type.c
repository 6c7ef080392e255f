/* A C++ type by its words. Words that change nothing are skipped, those of integers counted, the others looked up;
 * after the star, or as the last word, stands the parameter's name. */
#include "cli/source_type.h"
#include "base/c_text.h"

static const struct {
    const char *word, *scalar;
} known[] = {
    { "float", "f32" },
    { "double", "f64" },
    { "bool", "bool" },
    { "size_t", "u64" },
    { "int8_t", "i8" },
    { "int16_t", "i16" },
    { "int32_t", "i32" },
    { "int64_t", "i64" },
    { "uint8_t", "u8" },
    { "uint16_t", "u16" },
    { "uint32_t", "u32" },
    { "uint64_t", "u64" },
    { "uchar", "u8" },
    { "ushort", "u16" },
    { "uint", "u32" },
    { "ulong", "u64" },
    { "half", "f16" },
    { "__half", "f16" },
    { "__nv_bfloat16", "bf16" },
    { "nv_bfloat16", "bf16" },
    { "__nv_fp8_e4m3", "e4m3" },
    { "__nv_fp8_e5m2", "e5m2" },
    { "ptrdiff_t", "i64" },
    { "longlong", "i64" },
    { "ulonglong", "u64" },
    { "char", "i8" },
    { "short", "i16" },
    { "int", "i32" },
    { "float16", "f16" },
    { "bfloat16", "bf16" }, /* the words of NumPy and PyTorch */
    { "float32", "f32" },
    { "float64", "f64" },
    { "int8", "i8" },
    { "int16", "i16" },
    { "int32", "i32" },
    { "int64", "i64" },
    { "uint8", "u8" },
    { "uint16", "u16" },
    { "uint32", "u32" },
    { "uint64", "u64" },
};

static const struct scalar *look_up(struct str word)
{
    for (u32 i = 0; i < COUNT_OF(known); i++)
        if (str_is(word, known[i].word)) return scalar_find(str_of(known[i].scalar));
    return NULL;
}

/* float4, half2, __nv_bfloat162: a vector of a known scalar. */
static const struct scalar *vector_of(struct str word, u32 *lanes)
{
    char last = word.n > 1 ? word.p[word.n - 1] : 0;
    if (last < '1' || last > '4') return NULL;
    const struct scalar *t = look_up((struct str){ word.p, word.n - 1 });
    if (t) *lanes = (u32)(last - '0');
    return t;
}

struct source_type source_type(const char *text)
{
    static const char *const skipped[] = { "volatile",          "struct", "__restrict__", "__restrict", "restrict",
                                           "__grid_constant__", "std",    "cuda" };
    struct source_type t = { .lanes = 1 };
    u32 longs = 0, shorts = 0, chars = 0, ints = 0, uns = 0, sgn = 0;
    for (const char *p = text; *p; p++) {
        if (*p == '*') {
            if (t.pointer) return (struct source_type){ .pointer = true }; /* a pointer to pointers */
            t.pointer = true;
        }
        if (*p == '<' || *p == '(' || *p == '[') return (struct source_type){ .lanes = 1, .pointer = t.pointer };
        if (!is_word_char(*p)) continue;
        const char *q = p;
        while (is_word_char(*q)) q++;
        struct str word = { p, (u32)(q - p) };
        bool skip = false;
        for (u32 i = 0; i < COUNT_OF(skipped); i++) skip |= str_is(word, skipped[i]);
        p = q - 1;
        if (skip) continue;
        if (str_is(word, "const")) {
            t.constant |= !t.pointer;
            continue;
        }
        u32 *count = str_is(word, "long")       ? &longs
                     : str_is(word, "short")    ? &shorts
                     : str_is(word, "char")     ? &chars
                     : str_is(word, "int")      ? &ints
                     : str_is(word, "unsigned") ? &uns
                     : str_is(word, "signed")   ? &sgn
                                                : NULL;
        if (count)
            ++*count;
        else if (!t.scalar && !t.pointer && !(longs | shorts | chars | ints | uns | sgn))
            t.scalar = (t.scalar = look_up(word)) ? t.scalar : vector_of(word, &t.lanes);
        if (!count && !t.scalar && !t.pointer && !(longs | shorts | chars | ints | uns | sgn))
            break; /* a type of the user's */
    }
    if (longs | shorts | chars | ints | uns | sgn) {
        const char *name = chars    ? (uns ? "u8" : "i8")
                           : shorts ? (uns ? "u16" : "i16")
                           : longs  ? (uns ? "u64" : "i64")
                                    : (uns ? "u32" : "i32");
        t.scalar = scalar_find(str_of(name));
    }
    if (!t.scalar) t.pointer = strchr(text, '*') != NULL;
    return t;
}
