/* The table of CUDA's errors as values, and finding one in what people paste: a number, a name of either interface,
 * or the words of a message. */
#include "report/cuda_error.h"

static const struct cuda_error errors[] = {
#define CUDA_ERROR(number, driver, runtime, lasting, kinds, meaning, causes, fix) \
    { number, driver, runtime, CUDA_##lasting, kinds, meaning, causes, fix },
#define PHRASE(number, words)
#define SIGN(name, words, meaning, fix)
#include "report/cuda_error.def"
#undef CUDA_ERROR
#undef PHRASE
#undef SIGN
};

static const struct {
    u32 number;
    const char *words;
} phrases[] = {
#define CUDA_ERROR(number, driver, runtime, lasting, kinds, meaning, causes, fix)
#define PHRASE(number, words) { number, words },
#define SIGN(name, words, meaning, fix)
#include "report/cuda_error.def"
#undef CUDA_ERROR
#undef PHRASE
#undef SIGN
};

static const struct cuda_sign signs[] = {
#define CUDA_ERROR(number, driver, runtime, lasting, kinds, meaning, causes, fix)
#define PHRASE(number, words)
#define SIGN(name, words, meaning, fix) { name, words, meaning, fix },
#include "report/cuda_error.def"
#undef CUDA_ERROR
#undef PHRASE
#undef SIGN
};

const struct cuda_error *cuda_error_at(u32 i) { return i < COUNT_OF(errors) ? &errors[i] : NULL; }

const struct cuda_sign *cuda_sign_at(u32 i) { return i < COUNT_OF(signs) ? &signs[i] : NULL; }

const char *cuda_phrase_at(u32 i, u32 *number)
{
    if (i >= COUNT_OF(phrases)) return NULL;
    *number = phrases[i].number;
    return phrases[i].words;
}
