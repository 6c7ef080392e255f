/* Stand-ins for headers, for NVRTC.
 *
 * NVRTC has no host headers: a kernel file that includes <stdio.h> for printf or <stdint.h> for uint32_t would be
 * refused, though device code needs next to nothing of them. These texts give what device code can use; printf,
 * malloc, memcpy and the mathematical functions are known to NVRTC itself. So it is with CUB's one header for
 * everything. A source that needs more than that fails to compile with them and goes to nvcc. */
#include "compile/compile.h"

#define LIMITS                                                                                                        \
    "#ifndef INT_MAX\n#define CHAR_BIT 8\n#define SCHAR_MIN (-128)\n#define SCHAR_MAX 127\n#define UCHAR_MAX 255\n"   \
    "#define CHAR_MIN SCHAR_MIN\n#define CHAR_MAX SCHAR_MAX\n"                                                        \
    "#define SHRT_MIN (-SHRT_MAX - 1)\n#define SHRT_MAX 0x7fff\n#define USHRT_MAX 0xffff\n#define INT_MIN (-INT_MAX " \
    "- 1)\n#define INT_MAX 0x7fffffff\n"                                                                              \
    "#define UINT_MAX 0xffffffff\n#define LONG_MIN (-LONG_MAX - 1)\n#define LONG_MAX LLONG_MAX\n#define ULONG_MAX "   \
    "ULLONG_MAX\n"                                                                                                    \
    "#define LLONG_MIN (-LLONG_MAX - 1)\n#define LLONG_MAX 0x7fffffffffffffffLL\n#define ULLONG_MAX "                 \
    "0xffffffffffffffffUL\n#endif\n"
/* the same types and texts as in NVRTC's own cuda/std/cstdint, so that both may be included */
#define STDINT                                                                                                       \
    LIMITS "#ifndef LOCKSTEP_STDINT\n#define LOCKSTEP_STDINT\n"                                                      \
           "typedef signed char int8_t; typedef unsigned char uint8_t;\n"                                            \
           "typedef signed short int16_t; typedef unsigned short uint16_t;\n"                                        \
           "typedef signed int int32_t; typedef unsigned int uint32_t;\n"                                            \
           "typedef signed long long int64_t; typedef unsigned long long uint64_t;\n"                                \
           "typedef int8_t int_least8_t, int_fast8_t; typedef int16_t int_least16_t, int_fast16_t; typedef int32_t " \
           "int_least32_t, int_fast32_t;\n"                                                                          \
           "typedef uint8_t uint_least8_t, uint_fast8_t; typedef uint16_t uint_least16_t, uint_fast16_t; typedef "   \
           "uint32_t uint_least32_t, uint_fast32_t;\n"                                                               \
           "typedef int64_t int_least64_t, int_fast64_t, intptr_t, intmax_t; typedef uint64_t uint_least64_t, "      \
           "uint_fast64_t, uintptr_t, uintmax_t;\n"                                                                  \
           "#ifndef INT8_MIN\n#define INT8_MIN SCHAR_MIN\n#define INT16_MIN SHRT_MIN\n#define INT32_MIN "            \
           "INT_MIN\n#define INT64_MIN LLONG_MIN\n"                                                                  \
           "#define INT8_MAX SCHAR_MAX\n#define INT16_MAX SHRT_MAX\n#define INT32_MAX INT_MAX\n#define INT64_MAX "   \
           "LLONG_MAX\n"                                                                                             \
           "#define UINT8_MAX UCHAR_MAX\n#define UINT16_MAX USHRT_MAX\n#define UINT32_MAX UINT_MAX\n#define "        \
           "UINT64_MAX ULLONG_MAX\n"                                                                                 \
           "#define INTPTR_MIN INT64_MIN\n#define INTPTR_MAX INT64_MAX\n#define UINTPTR_MAX UINT64_MAX\n#define "    \
           "SIZE_MAX UINT64_MAX\n"                                                                                   \
           "#define INT64_C(X) ((::int_least64_t)(X))\n#define UINT64_C(X) ((::uint_least64_t)(X))\n"                \
           "#define INT32_C(X) ((::int_least32_t)(X))\n#define UINT32_C(X) ((::uint_least32_t)(X))\n#endif\n#endif\n"
#define STDINT_STD                                                                                                \
    STDINT "namespace std { using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t; " \
           "using ::uint16_t;\n"                                                                                  \
           "using ::uint32_t; using ::uint64_t; using ::intptr_t; using ::uintptr_t; }\n"
#define FLOAT                                                                                                   \
    "#ifndef FLT_MAX\n#define FLT_RADIX 2\n#define FLT_MANT_DIG 24\n#define DBL_MANT_DIG 53\n#define FLT_DIG "  \
    "6\n#define DBL_DIG 15\n"                                                                                   \
    "#define FLT_MAX 3.402823466e+38f\n#define FLT_MIN 1.175494351e-38f\n#define FLT_EPSILON 1.192092896e-7f\n" \
    "#define DBL_MAX 1.7976931348623157e+308\n#define DBL_MIN 2.2250738585072014e-308\n#define DBL_EPSILON "    \
    "2.2204460492503131e-16\n"                                                                                  \
    "#define FLT_MIN_EXP (-125)\n#define FLT_MAX_EXP 128\n#define DBL_MIN_EXP (-1021)\n#define DBL_MAX_EXP "    \
    "1024\n#endif\n"
#define MATH                                                                                                    \
    "#ifndef M_PI\n#define M_E 2.7182818284590452354\n#define M_LOG2E 1.4426950408889634074\n#define M_LOG10E " \
    "0.43429448190325182765\n"                                                                                  \
    "#define M_LN2 0.69314718055994530942\n#define M_LN10 2.30258509299404568402\n#define M_PI "                \
    "3.14159265358979323846\n"                                                                                  \
    "#define M_PI_2 1.57079632679489661923\n#define M_PI_4 0.78539816339744830962\n#define M_1_PI "             \
    "0.31830988618379067154\n"                                                                                  \
    "#define M_2_PI 0.63661977236758134308\n#define M_2_SQRTPI 1.12837916709551257390\n#define M_SQRT2 "        \
    "1.41421356237309504880\n"                                                                                  \
    "#define M_SQRT1_2 0.70710678118654752440\n#ifndef INFINITY\n#define INFINITY "                             \
    "__int_as_float(0x7f800000)\n#endif\n#ifndef NAN\n"                                                         \
    "#define NAN __int_as_float(0x7fffffff)\n#endif\n#ifndef HUGE_VALF\n#define HUGE_VALF INFINITY\n#endif\n#endif\n"
#define ASSERT                                                                                                   \
    "#undef assert\n#ifdef NDEBUG\n#define assert(e) ((void)0)\n#else\n"                                         \
    "#ifndef LOCKSTEP_ASSERT\n#define LOCKSTEP_ASSERT\n"                                                         \
    "extern \"C\" __device__ void __assertfail(const char *, const char *, unsigned int, const char *, size_t) " \
    "__attribute__((noreturn));\n#endif\n"                                                                       \
    "#define assert(e) ((e) ? (void)0 : __assertfail(#e, __FILE__, __LINE__, __func__, 1))\n#endif\n"
#define NOTHING "\n"
/* CUB without its device-wide algorithms, which are host code */
#define PART(name) "#if __has_include(<cub/" name ".cuh>)\n#include <cub/" name ".cuh>\n#endif\n"
/* clang-format off */
#define CUB PART("config") PART("block/block_adjacent_difference") PART("block/block_discontinuity") PART("block/block_exchange") \
    PART("block/block_histogram") PART("block/block_load") PART("block/block_merge_sort") PART("block/block_radix_rank") PART("block/block_radix_sort") \
    PART("block/block_reduce") PART("block/block_run_length_decode") PART("block/block_scan") PART("block/block_shuffle") PART("block/block_store") \
    PART("thread/thread_load") PART("thread/thread_operators") PART("thread/thread_reduce") PART("thread/thread_scan") PART("thread/thread_search") \
    PART("thread/thread_sort") PART("thread/thread_store") PART("warp/warp_exchange") PART("warp/warp_load") PART("warp/warp_merge_sort") \
    PART("warp/warp_reduce") PART("warp/warp_scan") PART("warp/warp_store") PART("grid/grid_even_share") PART("grid/grid_mapping") \
    PART("util_debug") PART("util_ptx") PART("util_type")
/* clang-format on */

static const struct {
    const char *name, *text;
} rows[] = {
    { "stdint.h", STDINT },   { "cstdint", STDINT_STD }, { "inttypes.h", STDINT }, { "cinttypes", STDINT_STD },
    { "limits.h", LIMITS },   { "climits", LIMITS },     { "float.h", FLOAT },     { "cfloat", FLOAT },
    { "math.h", MATH },       { "cmath", MATH },         { "assert.h", ASSERT },   { "cassert", ASSERT },
    { "stdio.h", NOTHING },   { "cstdio", NOTHING },     { "stdlib.h", NOTHING },  { "cstdlib", NOTHING },
    { "string.h", NOTHING },  { "cstring", NOTHING },    { "stddef.h", NOTHING },  { "cstddef", NOTHING },
    { "stdbool.h", NOTHING }, { "time.h", NOTHING },     { "ctime", NOTHING },     { "cub/cub.cuh", CUB },
};

const char *stand_in_name(u32 i) { return i < COUNT_OF(rows) ? rows[i].name : NULL; }

const char *stand_in_text(u32 i) { return i < COUNT_OF(rows) ? rows[i].text : NULL; }
