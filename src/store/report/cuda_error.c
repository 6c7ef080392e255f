/* The table of CUDA's errors as values, and finding one in what people paste: a number, a name of either interface,
 * or the words of a message. */
#include "report/cuda_error.h"
#include <string.h>

static const struct cuda_error errors[] = {
#define CUDA_ERROR(number, driver, runtime, lasting, kinds, meaning, causes, fix) \
    { number, driver, runtime, CUDA_##lasting, kinds, meaning, causes, fix },
#define PHRASE(number, words)
#include "report/cuda_error.def"
#undef CUDA_ERROR
#undef PHRASE
};

static const struct {
    u32 number;
    const char *words;
} phrases[] = {
#define CUDA_ERROR(number, driver, runtime, lasting, kinds, meaning, causes, fix)
#define PHRASE(number, words) { number, words },
#include "report/cuda_error.def"
#undef CUDA_ERROR
#undef PHRASE
};

static const struct cuda_sign signs[] = {
#define SIGN(name, words, meaning, fix) { name, words, meaning, fix },
#define SAME(name, words) { name, words, NULL, NULL },
#include "report/sign.def"
#undef SIGN
#undef SAME
};

const struct cuda_error *cuda_error_at(u32 i) { return i < COUNT_OF(errors) ? &errors[i] : NULL; }

bool cuda_sign_at(u32 i, struct cuda_sign *out)
{
    if (i >= COUNT_OF(signs)) return false;
    u32 whole = i;
    for (u32 k = 0; !signs[whole].meaning && k < i; k++)
        if (signs[k].meaning && !strcmp(signs[k].name, signs[i].name)) whole = k;
    CHECK(signs[whole].meaning); /* SAME has its SIGN in front of it */
    *out = (struct cuda_sign){ signs[i].name, signs[i].words, signs[whole].meaning, signs[whole].fix };
    return true;
}

const char *cuda_phrase_at(u32 i, u32 *number)
{
    if (i >= COUNT_OF(phrases)) return NULL;
    *number = phrases[i].number;
    return phrases[i].words;
}
