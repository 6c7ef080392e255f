/* The table of device profiles.
 *
 * Limits follow from the compute capability (CUDA C++ Programming Guide, "Compute Capabilities", technical specifications per
 * compute capability) and stand once each, in the LIMITS rows; what differs between products stands in the product's row, from
 * the vendor's datasheet or architecture paper that its `source` names. Peaks are dense and rounded to whole TFLOP/s. */
#include "sim/profile.h"

#define KIB(n) ((n) << 10)
#define MIB(n) ((n) << 20)
#define GIB(n) ((u64)(n) << 30)

/* Equal for every capability here: 1024 threads a CTA, 64 Ki registers an SM and a CTA, 255 a thread, 48 KiB without opt-in. */
#define COMMON \
    .threads_per_cta = 1024, .regs_per_sm = 65536, .regs_per_cta = 65536, .regs_per_thread = 255, .shared_per_cta = KIB(48), \
    .grid = { 2147483647, 65535, 65535 }, .block = { 1024, 1024, 64 }, .cooperative = true
#define LIMITS(sm_, threads, ctas, shared, reserved, clusters) COMMON, .sm = sm_, .threads_per_sm = threads, .warps_per_sm = (threads) / 32, \
    .ctas_per_sm = ctas, .shared_per_sm = KIB(shared), .shared_reserved = reserved, .shared_optin = KIB(shared) - (reserved), .cluster_max = clusters
/*                      sm  threads CTAs  KiB  reserved clusters */
#define SM_75  LIMITS(  75,   1024,  16,   64,     0,     0)
#define SM_80  LIMITS(  80,   2048,  32,  164,  1024,     0)
#define SM_86  LIMITS(  86,   1536,  16,  100,  1024,     0)
#define SM_89  LIMITS(  89,   1536,  24,  100,  1024,     0)
#define SM_90  LIMITS(  90,   2048,  32,  228,  1024,    16)
#define SM_100 LIMITS( 100,   2048,  32,  228,  1024,    16)
#define SM_120 LIMITS( 120,   1536,  24,  100,  1024,     8)
#define SM_121 LIMITS( 121,   1536,  24,  100,  1024,     8)

/* By capability, the default of each first: "sm_90" means the first row that has it. */
static const struct profile profiles[] = {
    { SM_90, .name = "h200", .title = "NVIDIA H200 SXM", .sms = 132, .memory = MIB(143771ull), .l2 = MIB(50), .clock_mhz = 1980,
      .memory_gbs = 4800, .tf_f32 = 67, .tf_f64 = 34, .tf_f16 = 989,
      .source = "NVIDIA H200 Tensor Core GPU datasheet; NVIDIA H100 Tensor Core GPU Architecture (GH100); memory and clock as an H200 reports "
                "them to nvidia-smi; CUDA C++ Programming Guide, 9.0" },
    { SM_90, .name = "h100", .title = "NVIDIA H100 SXM5 80GB", .sms = 132, .memory = GIB(80), .l2 = MIB(50), .clock_mhz = 1980,
      .memory_gbs = 3352, .tf_f32 = 67, .tf_f64 = 34, .tf_f16 = 989,
      .source = "NVIDIA H100 Tensor Core GPU datasheet; NVIDIA H100 Tensor Core GPU Architecture; CUDA C++ Programming Guide, 9.0" },
    { SM_75, .name = "t4", .title = "NVIDIA T4", .sms = 40, .memory = GIB(16), .l2 = MIB(4), .clock_mhz = 1590, .memory_gbs = 320,
      .tf_f32 = 8, .tf_f64 = 0, .tf_f16 = 65,
      .source = "NVIDIA T4 Tensor Core GPU datasheet; NVIDIA Turing GPU Architecture (TU104); CUDA C++ Programming Guide, 7.5" },
    { SM_80, .name = "a100", .title = "NVIDIA A100 SXM4 80GB", .sms = 108, .memory = GIB(80), .l2 = MIB(40), .clock_mhz = 1410,
      .memory_gbs = 2039, .tf_f32 = 19, .tf_f64 = 10, .tf_f16 = 312,
      .source = "NVIDIA A100 Tensor Core GPU datasheet; NVIDIA A100 Tensor Core GPU Architecture; CUDA C++ Programming Guide, 8.0" },
    { SM_86, .name = "a10", .title = "NVIDIA A10", .sms = 72, .memory = GIB(24), .l2 = MIB(6), .clock_mhz = 1695, .memory_gbs = 600,
      .tf_f32 = 31, .tf_f64 = 0, .tf_f16 = 125,
      .source = "NVIDIA A10 datasheet; NVIDIA Ampere GA102 GPU Architecture; CUDA C++ Programming Guide, 8.6" },
    { SM_86, .name = "rtx3090", .title = "NVIDIA GeForce RTX 3090", .sms = 82, .memory = GIB(24), .l2 = MIB(6), .clock_mhz = 1695,
      .memory_gbs = 936, .tf_f32 = 36, .tf_f64 = 1, .tf_f16 = 71,
      .source = "NVIDIA Ampere GA102 GPU Architecture, appendix A (f16 with f32 accumulation); CUDA C++ Programming Guide, 8.6" },
    { SM_89, .name = "l4", .title = "NVIDIA L4", .sms = 58, .memory = GIB(24), .l2 = MIB(48), .clock_mhz = 2040, .memory_gbs = 300,
      .tf_f32 = 30, .tf_f64 = 0, .tf_f16 = 121,
      .source = "NVIDIA L4 Tensor Core GPU datasheet; NVIDIA Ada GPU Architecture (AD104); CUDA C++ Programming Guide, 8.9" },
    { SM_89, .name = "rtx4090", .title = "NVIDIA GeForce RTX 4090", .sms = 128, .memory = GIB(24), .l2 = MIB(72), .clock_mhz = 2520,
      .memory_gbs = 1008, .tf_f32 = 83, .tf_f64 = 1, .tf_f16 = 165,
      .source = "NVIDIA Ada GPU Architecture, appendix A (f16 with f32 accumulation); CUDA C++ Programming Guide, 8.9" },
    { SM_100, .name = "b200", .title = "NVIDIA B200", .sms = 148, .memory = MIB(182630ull), .l2 = MIB(126), .clock_mhz = 1965,
      .memory_gbs = 7672, .tf_f32 = 75, .tf_f64 = 37, .tf_f16 = 2250,
      .source = "NVIDIA Blackwell Architecture datasheet (HGX B200); Blackwell Tuning Guide (L2 126 MB); device properties as read on "
                "a B200 (pytorch/ao pull request 4002: 148 SMs, 178.35 GiB, 7680-bit bus at 3996 MHz); CUDA C++ Programming Guide, 10.0" },
    { SM_120, .name = "rtx5090", .title = "NVIDIA GeForce RTX 5090", .sms = 170, .memory = GIB(32), .l2 = MIB(96), .clock_mhz = 2407,
      .memory_gbs = 1792, .tf_f32 = 105, .tf_f64 = 2, .tf_f16 = 210,
      .source = "NVIDIA RTX Blackwell GPU Architecture, appendix A (f16 with f32 accumulation); CUDA C++ Programming Guide, 12.0" },
    { SM_120, .name = "rtx-pro-6000", .title = "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", .sms = 188, .memory = GIB(96),
      .l2 = MIB(128), .clock_mhz = 2617, .memory_gbs = 1792, .tf_f32 = 126, .tf_f64 = 2, .tf_f16 = 504,
      .source = "NVIDIA RTX PRO Blackwell GPU Architecture, table 1; CUDA C++ Programming Guide, 12.0" },
    { SM_121, .name = "gb10", .title = "NVIDIA GB10 (DGX Spark)", .sms = 48, .memory = 128000000000ull, .l2 = MIB(24), .clock_mhz = 2525,
      .memory_gbs = 273, .tf_f32 = 31, .tf_f64 = 0, .tf_f16 = 0,
      .source = "NVIDIA DGX Spark datasheet; NVIDIA GB10 at Hot Chips 2025 (31 TFLOP/s f32); CUDA C++ Programming Guide, 12.1" },
};

const struct profile *profile_at(u32 i)
{
    return i < COUNT_OF(profiles) ? &profiles[i] : NULL;
}

const struct profile *profile_default(void)
{
    return &profiles[0];
}

/* Letters in any case; blanks, dashes and underscores do not count: "RTX 4090" is "rtx4090". */
static bool same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == ' ' || *a == '-' || *a == '_')
            a++;
        while (*b == ' ' || *b == '-' || *b == '_')
            b++;
        char x = *a >= 'A' && *a <= 'Z' ? (char)(*a + 32) : *a;
        if (x != *b || !x)
            return x == *b;
    }
}

/* "sm_90", "sm90a", "90", "compute_90" -> 90; 0: none of these. */
static u32 capability(const char *s)
{
    static const char *const prefix[] = { "sm_", "sm", "SM_", "SM", "compute_" };
    for (u32 i = 0; i < COUNT_OF(prefix); i++)
        if (!strncmp(s, prefix[i], strlen(prefix[i]))) {
            s += strlen(prefix[i]);
            break;
        }
    u32 n = 0, digits = 0;
    for (; *s >= '0' && *s <= '9' && digits < 4; s++, digits++)
        n = n * 10 + (u32)(*s - '0');
    bool end = !*s || ((*s == 'a' || *s == 'f') && !s[1]);
    return digits && end ? n : 0;
}

const struct profile *profile_find(const char *name)
{
    for (u32 i = 0; i < COUNT_OF(profiles); i++)
        if (same_name(name, profiles[i].name))
            return &profiles[i];
    u32 sm = capability(name);
    for (u32 i = 0; sm && i < COUNT_OF(profiles); i++)
        if (profiles[i].sm == sm)
            return &profiles[i];
    return NULL;
}
