/* Compiler flags: written as for nvcc, and what each of them is called by NVRTC, nvcc and clang.
 *
 * One table. A row is a spelling (with its value when the value decides), and three translations; %s is the value, a
 * blank separates words, "" means that the compiler does so anyway or that it only concerns ptxas. A flag that no row
 * knows is handed on as it is. */
#include "compile/compile.h"

enum flag_use { USE_NONE, USE_FOLDER, USE_FILE, USE_STD, USE_DEBUG, USE_OPTIMISE, USE_REGISTERS };
struct flag_row {
    const char *spelling; /* ends in = or is followed by its value directly when `value` */
    bool value;           /* a value follows */
    enum flag_use use;    /* what else it means */
    const char *as[3];    /* for nvrtc, nvcc, clang */
};
static const struct flag_row rows[] = {
    { "--include-path=", true, USE_FOLDER, { "-I%s", "-I%s", "-I%s" } },
    { "-isystem=", true, USE_FOLDER, { "-I%s", "-isystem=%s", "-isystem %s" } },
    { "--system-include=", true, USE_FOLDER, { "-I%s", "-isystem=%s", "-isystem %s" } },
    { "-include=", true, USE_FILE, { "--pre-include=%s", "--pre-include=%s", "-include %s" } },
    { "--pre-include=", true, USE_FILE, { "--pre-include=%s", "--pre-include=%s", "-include %s" } },
    { "--define-macro=", true, USE_NONE, { "-D%s", "-D%s", "-D%s" } },
    { "--undefine-macro=", true, USE_NONE, { "-U%s", "-U%s", "-U%s" } },
    { "--std=", true, USE_STD, { "--std=%s", "-std=%s", "-std=%s" } },
    { "-std=", true, USE_STD, { "--std=%s", "-std=%s", "-std=%s" } },
    { "--device-debug", false, USE_DEBUG, { "-G", "-G", "-g -O0" } },
    { "-G", false, USE_DEBUG, { "-G", "-G", "-g -O0" } },
    { "--use_fast_math",
      false,
      USE_NONE,
      { "--use_fast_math", "--use_fast_math",
        "-ffast-math -fcuda-approx-transcendentals -fcuda-flush-denormals-to-zero" } },
    { "-use_fast_math",
      false,
      USE_NONE,
      { "--use_fast_math", "--use_fast_math",
        "-ffast-math -fcuda-approx-transcendentals -fcuda-flush-denormals-to-zero" } },
    { "--maxrregcount=", true, USE_REGISTERS, { "--maxrregcount=%s", "-maxrregcount=%s", "" } },
    { "-maxrregcount=", true, USE_REGISTERS, { "--maxrregcount=%s", "-maxrregcount=%s", "" } },
    { "-ftz=true", false, USE_NONE, { "--ftz=true", "-ftz=true", "-fcuda-flush-denormals-to-zero" } },
    { "-ftz=false", false, USE_NONE, { "--ftz=false", "-ftz=false", "" } },
    { "-fmad=true", false, USE_NONE, { "--fmad=true", "-fmad=true", "-ffp-contract=fast" } },
    { "-fmad=false", false, USE_NONE, { "--fmad=false", "-fmad=false", "-ffp-contract=off" } },
    { "-prec-div=true", false, USE_NONE, { "--prec-div=true", "-prec-div=true", "" } },
    { "-prec-div=false", false, USE_NONE, { "--prec-div=false", "-prec-div=false", "-mllvm -nvptx-prec-divf32=0" } },
    { "-prec-sqrt=true", false, USE_NONE, { "--prec-sqrt=true", "-prec-sqrt=true", "" } },
    { "-prec-sqrt=false",
      false,
      USE_NONE,
      { "--prec-sqrt=false", "-prec-sqrt=false", "-mllvm -nvptx-prec-sqrtf32=0" } },
    { "-rdc=true", false, USE_NONE, { "--relocatable-device-code=true", "-rdc=true", "-fgpu-rdc" } },
    { "-rdc=false", false, USE_NONE, { "", "-rdc=false", "" } },
    { "--extended-lambda", false, USE_NONE, { "--extended-lambda", "--extended-lambda", "" } },
    { "-extended-lambda", false, USE_NONE, { "--extended-lambda", "--extended-lambda", "" } },
    { "--expt-relaxed-constexpr", false, USE_NONE, { "", "--expt-relaxed-constexpr", "" } },
    { "-expt-relaxed-constexpr", false, USE_NONE, { "", "--expt-relaxed-constexpr", "" } },
    { "-lineinfo", false, USE_NONE, { "", "", "" } },
    { "--generate-line-info", false, USE_NONE, { "", "", "" } },
    { "-w", false, USE_NONE, { "-w", "-w", "-w" } },
    { "-I", true, USE_FOLDER, { "-I%s", "-I%s", "-I%s" } },
    { "-D", true, USE_NONE, { "-D%s", "-D%s", "-D%s" } },
    { "-U", true, USE_NONE, { "-U%s", "-U%s", "-U%s" } },
    { "-O", true, USE_OPTIMISE, { "", "-O%s", "-O%s" } },
};

static const struct flag_row *row_of(const char *flag, const char **value)
{
    for (u32 i = 0; i < COUNT_OF(rows); i++) {
        const struct flag_row *r = &rows[i];
        size_t n = strlen(r->spelling);
        if (r->value ? !strncmp(flag, r->spelling, n) : !strcmp(flag, r->spelling)) {
            *value = flag + n;
            return r;
        }
    }
    /* nvcc takes most flags with one dash or two */
    return flag[0] == '-' && flag[1] == '-' && flag[2] ? row_of(flag + 1, value) : NULL;
}

/* The words of a translation, with the value put in. */
static void add_words(struct arena *a, const char *as, const char *value, word_list *out)
{
    while (*as) {
        size_t n = strcspn(as, " ");
        const char *hole = memchr(as, '%', n);
        const char *word = hole ? arena_printf(a, "%.*s%s%.*s", (int)(hole - as), as, value,
                                               (int)(n - (size_t)(hole + 2 - as)), hole + 2)
                                : arena_str(a, (struct str){ as, (u32)n });
        VEC_PUSH(a, out, word);
        as += n;
        as += *as == ' ';
    }
}

static bool uses(const struct compile_options *o, enum flag_use use)
{
    for (u32 i = 0; i < o->flags; i++) {
        const char *value;
        const struct flag_row *r = row_of(o->flag[i], &value);
        if (r && r->use == use) return true;
    }
    return false;
}

bool flags_translate(struct arena *a, const struct compile_options *o, enum compiler c, word_list *out, struct error *e)
{
    static const char *const lines[] = { "--generate-line-info", "-lineinfo", "-gline-tables-only" };
    u32 who = (u32)c - COMPILER_NVRTC;
    if (!uses(o, USE_DEBUG)) VEC_PUSH(a, out, lines[who]);
    if (!uses(o, USE_STD)) VEC_PUSH(a, out, c == COMPILER_NVRTC ? "--std=c++17" : "-std=c++17");
    if (c == COMPILER_CLANG && !uses(o, USE_OPTIMISE) && !uses(o, USE_DEBUG)) VEC_PUSH(a, out, "-O3");
    for (u32 i = 0; i < o->flags; i++) {
        const char *value;
        const struct flag_row *r = row_of(o->flag[i], &value);
        if (r && r->value && !value[0])
            return error_set(e, ERR_INPUT, "the compiler's flag %s needs its value in the same word, as in %sVALUE",
                             o->flag[i], r->spelling);
        if (r)
            add_words(a, r->as[who], value, out);
        else
            VEC_PUSH(a, out, o->flag[i]);
    }
    return true;
}

void flags_paths(const struct compile_options *o, struct arena *a, word_list *folders, word_list *files)
{
    for (u32 i = 0; i < o->flags; i++) {
        const char *value;
        const struct flag_row *r = row_of(o->flag[i], &value);
        if (r && r->use == USE_FOLDER)
            VEC_PUSH(a, folders, value);
        else if (r && r->use == USE_FILE)
            VEC_PUSH(a, files, value);
    }
}

const char *flags_registers(const struct compile_options *o)
{
    const char *found = NULL;
    for (u32 i = 0; i < o->flags; i++) {
        const char *value;
        const struct flag_row *r = row_of(o->flag[i], &value);
        if (r && r->use == USE_REGISTERS) found = value;
    }
    return found;
}
