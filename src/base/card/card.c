/* The table of cards.
 *
 * Limits follow from the compute capability (CUDA C++ Programming Guide, "Compute Capabilities", technical
 * specifications per compute capability; the same in cuda_occupancy.h of CUDA 13.0, which
 * tests/cases/cli/occupancy.case compares them with, and in CCCL's cuda/__device/arch_traits.h) and stand once each,
 * in the LIMITS rows; what differs between products stands in the product's row, from the vendor's datasheet or
 * architecture paper that its `source` names. Peaks are dense, PEAKS in TFLOP/s: f64 and f32 of the ordinary units,
 * then the tensor cores' f64, tf32, f16, f8, f4, i8. */
#include "card/card.h"

#define KIB(n) ((n) << 10)
#define MIB(n) ((n) << 20)
#define GIB(n) ((u64)(n) << 30)

#define G(x) ((u32)((x)*1000 + 0.5))
#define PEAKS(f64_, f32_, t64, tf32, f16, f8, f4, i8, sparse_) \
    .peak = { G(f64_), G(f32_), G(t64), G(tf32), G(f16), G(f8), G(f4), G(i8) }, .sparse = sparse_

/* Equal for every capability here: 1024 threads a CTA, 64 Ki registers an SM and a CTA, 255 a thread, 48 KiB without
 * opt-in. */
#define COMMON                                                                                    \
    .threads_per_cta = 1024, .regs_per_sm = 65536, .regs_per_cta = 65536, .regs_per_thread = 255, \
    .shared_per_cta = KIB(48), .grid = { 2147483647, 65535, 65535 }, .block = { 1024, 1024, 64 }, .cooperative = true
#define LIMITS(sm_, threads, ctas, shared, reserved, clusters, cores, tensor)                                    \
    COMMON, .sm = sm_, .threads_per_sm = threads, .warps_per_sm = (threads) / 32, .ctas_per_sm = ctas,           \
            .shared_per_sm = KIB(shared), .shared_reserved = reserved, .shared_optin = KIB(shared) - (reserved), \
            .cluster_max = clusters, .cores_per_sm = cores, .tensor_cores_per_sm = tensor
/* CUDA cores (f32) and tensor cores of an SM: the architecture papers of Turing, Ampere (GA100, GA102), Ada, Hopper and
 * Blackwell, and "Arithmetic Instructions" of the programming guide.
 *                sm  threads CTAs KiB reserved clusters cores tensor */
#define SM_75 LIMITS(75, 1024, 16, 64, 0, 0, 64, 8)
#define SM_80 LIMITS(80, 2048, 32, 164, 1024, 0, 64, 4)
#define SM_86 LIMITS(86, 1536, 16, 100, 1024, 0, 128, 4)
#define SM_89 LIMITS(89, 1536, 24, 100, 1024, 0, 128, 4)
#define SM_90 LIMITS(90, 2048, 32, 228, 1024, 16, 128, 4)
#define SM_100 LIMITS(100, 2048, 32, 228, 1024, 16, 128, 4)
#define SM_120 LIMITS(120, 1536, 24, 100, 1024, 8, 128, 4)
#define SM_121 LIMITS(121, 1536, 24, 100, 1024, 8, 128, 4)

/* What an H200 answers for clusters of 1 to 16 comes of seven GPCs and half of one, and of four pairs that stand alone
 * (tests/facts/clusters.cu). */
#define GH100_GPCS 18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2

/* By capability, the default of each first: "sm_90" means the first row that has it. */
static const struct card cards[] = {
    { SM_90, .name = "h200", .title = "NVIDIA H200 SXM", .driver_name = "NVIDIA H200", .sms = 132,
      .gpc = { GH100_GPCS }, .memory = MIB(143771ull), .l2 = MIB(50), .clock_mhz = 1980, .memory_gbs = 4800,
      PEAKS(34, 67, 67, 495, 989, 1979, 0, 1979, true),
      .source = "NVIDIA H200 Tensor Core GPU datasheet; NVIDIA H100 Tensor Core GPU Architecture (GH100); memory and "
                "clock as an H200 reports "
                "them to nvidia-smi; CUDA C++ Programming Guide, 9.0" },
    { SM_90, .name = "h100", .title = "NVIDIA H100 SXM5 80GB", .sms = 132, .gpc = { GH100_GPCS }, .memory = GIB(80),
      .l2 = MIB(50), .clock_mhz = 1980, .memory_gbs = 3352, PEAKS(34, 67, 67, 495, 989, 1979, 0, 1979, true),
      .source = "NVIDIA H100 Tensor Core GPU datasheet; NVIDIA H100 Tensor Core GPU Architecture; CUDA C++ Programming "
                "Guide, 9.0" },
    { SM_75, .name = "t4", .title = "NVIDIA T4", .sms = 40, .memory = GIB(16), .l2 = MIB(4), .clock_mhz = 1590,
      .memory_gbs = 320, PEAKS(0.253, 8.1, 0, 0, 65, 0, 0, 130, false),
      .source = "NVIDIA T4 Tensor Core GPU datasheet; NVIDIA Turing GPU Architecture (TU104; two f64 units an SM); "
                "CUDA C++ Programming "
                "Guide, 7.5" },
    { SM_80, .name = "a100", .title = "NVIDIA A100 SXM4 80GB", .sms = 108, .memory = GIB(80), .l2 = MIB(40),
      .clock_mhz = 1410, .memory_gbs = 2039, PEAKS(9.7, 19.5, 19.5, 156, 312, 0, 0, 624, true),
      .source = "NVIDIA A100 Tensor Core GPU datasheet; NVIDIA A100 Tensor Core GPU Architecture; CUDA C++ Programming "
                "Guide, 8.0" },
    { SM_86, .name = "a10", .title = "NVIDIA A10", .sms = 72, .memory = GIB(24), .l2 = MIB(6), .clock_mhz = 1695,
      .memory_gbs = 600, PEAKS(0.488, 31.2, 0, 62.5, 125, 0, 0, 250, true),
      .source = "NVIDIA A10 datasheet; NVIDIA Ampere GA102 GPU Architecture (two f64 units an SM); CUDA C++ "
                "Programming Guide, 8.6" },
    { SM_86, .name = "rtx3090", .title = "NVIDIA GeForce RTX 3090", .sms = 82, .memory = GIB(24), .l2 = MIB(6),
      .clock_mhz = 1695, .memory_gbs = 936, PEAKS(0.56, 35.6, 0, 35.6, 71, 0, 0, 284, true),
      .source = "NVIDIA Ampere GA102 GPU Architecture, appendix A (f16 with f32 accumulation); CUDA C++ Programming "
                "Guide, 8.6" },
    { SM_89, .name = "l4", .title = "NVIDIA L4", .sms = 58, .memory = GIB(24), .l2 = MIB(48), .clock_mhz = 2040,
      .memory_gbs = 300, PEAKS(0.473, 30.3, 0, 60, 121, 242.5, 0, 242.5, true),
      .source = "NVIDIA L4 Tensor Core GPU datasheet; NVIDIA Ada GPU Architecture (AD104; two f64 units an SM); CUDA "
                "C++ Programming Guide, 8.9" },
    { SM_89, .name = "rtx4090", .title = "NVIDIA GeForce RTX 4090", .sms = 128, .memory = GIB(24), .l2 = MIB(72),
      .clock_mhz = 2520, .memory_gbs = 1008, PEAKS(1.29, 82.6, 0, 82.6, 165.2, 330.3, 0, 660.6, true),
      .source =
          "NVIDIA Ada GPU Architecture, appendix A (f16 with f32 accumulation); CUDA C++ Programming Guide, 8.9" },
    { SM_100, .name = "b200", .title = "NVIDIA B200", .sms = 148, .memory = MIB(182630ull), .l2 = MIB(126),
      .clock_mhz = 1965, .memory_gbs = 7672, PEAKS(37, 75, 37, 1100, 2250, 4500, 9000, 4500, true),
      .source = "NVIDIA Blackwell Architecture datasheet (HGX B200); Blackwell Tuning Guide (L2 126 MB); device "
                "properties as read on "
                "a B200 (pytorch/ao pull request 4002: 148 SMs, 178.35 GiB, 7680-bit bus at 3996 MHz); CUDA C++ "
                "Programming Guide, 10.0" },
    { SM_120, .name = "rtx5090", .title = "NVIDIA GeForce RTX 5090", .sms = 170, .memory = GIB(32), .l2 = MIB(96),
      .clock_mhz = 2407, .memory_gbs = 1792, PEAKS(1.64, 104.8, 0, 104.8, 209.5, 419, 1676, 838, true),
      .source = "NVIDIA RTX Blackwell GPU Architecture, appendix A (f16 with f32 accumulation); CUDA C++ Programming "
                "Guide, 12.0" },
    { SM_120, .name = "rtx-pro-6000", .title = "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", .sms = 188,
      .memory = GIB(96), .l2 = MIB(128), .clock_mhz = 2617, .memory_gbs = 1792,
      PEAKS(1.97, 126, 0, 251.9, 503.8, 1007.6, 2015.2, 1007.6, true),
      .source = "NVIDIA RTX PRO Blackwell GPU Architecture, table 1; CUDA C++ Programming Guide, 12.0" },
    { SM_121, .name = "gb10", .alias = "spark", .title = "NVIDIA GB10 (DGX Spark)", .sms = 48, .pageable = true,
      .memory = 128000000000ull, .l2 = MIB(24), .clock_mhz = 2525, .memory_gbs = 273,
      PEAKS(0.484, 31, 0, 62.5, 125, 250, 500, 250, true),
      .source =
          "NVIDIA DGX Spark datasheet; NVIDIA GB10 at Hot Chips 2025 (31 TFLOP/s f32); f4 is half of the 1 PFLOP/s "
          "published for sparse matrices; the other tensor peaks are not published: f8 and i8 are half of f4, f16 and "
          "bf16 a quarter, tf32 an eighth, as on the other chip of this SM (RTX PRO Blackwell GPU Architecture, table "
          "1; two f64 units an SM); CUDA C++ Programming Guide, 12.1" },
};

u32 card_gpc(const struct card *p, u32 k)
{
    enum { USUAL = 16 };
    if (p->gpc[0]) return k < COUNT_OF(p->gpc) ? p->gpc[k] : 0;
    return k * USUAL < p->sms ? MIN_OF((u32)USUAL, p->sms - k * USUAL) : 0;
}

u32 card_clusters(const struct card *p, u32 size, u32 ctas_per_sm)
{
    u32 sum = 0;
    for (u32 k = 0, n; (n = card_gpc(p, k)); k++)
        if (n >= size) sum += n * MIN_OF(ctas_per_sm, (u32)CLUSTER_CTAS_PER_SM) / size;
    return sum;
}

const struct card *card_at(u32 i) { return i < COUNT_OF(cards) ? &cards[i] : NULL; }

const struct card *card_default(void) { return &cards[0]; }

/* Letters in any case; blanks, dashes and underscores do not count: "RTX 4090" is "rtx4090". */
static bool same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == ' ' || *a == '-' || *a == '_') a++;
        while (*b == ' ' || *b == '-' || *b == '_') b++;
        char x = *a >= 'A' && *a <= 'Z' ? (char)(*a + 32) : *a;
        if (x != *b || !x) return x == *b;
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
    for (; *s >= '0' && *s <= '9' && digits < 4; s++, digits++) n = n * 10 + (u32)(*s - '0');
    bool end = !*s || ((*s == 'a' || *s == 'f') && !s[1]);
    return digits && end ? n : 0;
}

const struct card *card_find(const char *name)
{
    for (u32 i = 0; i < COUNT_OF(cards); i++)
        if (same_name(name, cards[i].name) || (cards[i].alias && same_name(name, cards[i].alias))) return &cards[i];
    u32 sm = capability(name);
    for (u32 i = 0; sm && i < COUNT_OF(cards); i++)
        if (cards[i].sm == sm) return &cards[i];
    return NULL;
}
