/* Unit tests of the demangler: names as compilers write them, one for each thing of the grammar, and what is no name.
 */
#include "base/demangle.h"
#include "report/report.h"
#include "unit.h"

static void signature(const char *mangled, const char *want)
{
    struct arena a = { 0 };
    struct demangled d;
    if (UNIT(demangle(&a, str_of(mangled), &d))) UNIT_EQ_STR(d.signature ? d.signature : d.name, want);
    arena_free(&a);
}

static void refused(const char *mangled)
{
    struct arena a = { 0 };
    struct demangled d;
    if (!UNIT(!demangle(&a, str_of(mangled), &d))) fprintf(stderr, "  taken: %s\n", mangled);
    arena_free(&a);
}

static void kernels(void)
{
    signature("_Z5saxpyfPKfPfi", "saxpy(float, const float*, float*, int)");
    signature("_Z5scaleIfEvPT_S0_i", "scale<float>(float*, float, int)");
    signature("_ZN2ns5scaleIjLi3EEEvPT_S1_i", "ns::scale<unsigned int, 3>(unsigned int*, unsigned int, int)");
    signature("_Z1fIJifEEvDpT_", "f<int, float>(int, float)");
    signature("_Z1fIJEEvDpT_", "f<>()");
    signature("_Z1gIJifEEvDpPKT_", "g<int, float>(const int*, const float*)");
    signature("_Z1fPFviE", "f(void (*)(int))");
    signature("_Z1fPKfPA4_f", "f(const float*, float (*) [4])");
    signature("_Z1fRA3_KiOd", "f(const int (&) [3], double&&)");
    signature("_ZL1kv", "k()");
    /* what belongs to one file of several (-rdc=true) */
    signature("__nv_static_26__c783eced_5_st_cu_7edffa94__Z4statPi", "stat(int*)");
    signature("__nv_static_26__c783eced_5_st_cu_7edffa94__ZN37_GLOBAL__N__c783eced_5_st_cu_7edffa946hiddenEPii",
              "hidden(int*, int)");
    signature("__nv_static_26__c783eced_5_st_cu_7edffa94_counter", "counter");
    refused("__nv_static_");
    refused("__nv_static_26");
    refused("__nv_static_26__c783eced_5_st_cu_7edffa94");
    refused("__nv_static_26__c783eced_5_st_cu_7edffa94_");
    refused("__nv_static_99999999999__a_b");
    refused("__nv_static__a");
    signature("_ZN12_GLOBAL__N_11kEPi", "k(int*)");
    signature("_ZN40_INTERNAL_0123456789_4_k_cu_abcdefghijkl1kEi", "k(int)");
    signature("_ZZ5scaleIfEvPT_S0_iE1s", "scale<float>(float*, float, int)::s");
    signature("_Z1kI6__halfLb1ELj8ELy5EEvPT_", "k<__half, true, 8u, 5ull>(__half*)");
    signature("_Z3mapIfZ4mainEUlT_E_EvPT_T0_", "map<float, main::{lambda(auto)}>(float*, main::{lambda(auto)})");
    signature("_Z1kM1AFivEMS_i", "k(int (A::*)(), int A::*)");
    signature("_Z1kIXadL_Z3addiiEEEvv", "k<&(add(int, int))>()");
    signature("_Z1kILin5EEvv", "k<-5>()");
    signature("_Z1kDv4_fDF16_DhDn", "k(float vector[4], _Float16, _Float16, decltype(nullptr))");
    signature("_Z1fILi4EEvRAplT_Li1E_i", "f<4>(int (&) [(4)+(1)])");
    signature("_ZN3cub6detail1KI7ReducerSt4plusIvEEEvT_S4_T0_",
              "cub::detail::K<Reducer, std::plus<void>>(Reducer, std::plus<void>, std::plus<void>)");
    signature("_ZNK4cuda3std3__45arrayIiLm3EEixEm", "cuda::std::__4::array<int, 3ul>::operator[](unsigned long) const");
}

static void trouble(void)
{
    static const char *const bad[] = { "",        "_Z",  "saxpy", "_Z5",  "_Z99999999999999999999a",
                                       "_Z5scal", "_ZN", "_ZNE",  "_ZS_", "_ZT_",
                                       "_ZNS_E",  "_ZZ", "_ZNSt" };
    for (u32 i = 0; i < COUNT_OF(bad); i++) refused(bad[i]);
    /* as deep and as wide as it gets: refused or bounded, never endless */
    char deep[4096] = "_Z1f";
    memset(deep + 4, 'P', 4000);
    deep[4004] = 'i';
    struct arena a = { 0 };
    struct demangled d;
    UNIT(demangle(&a, str_of(deep), &d) && !d.signature && !strcmp(d.name, "f"));
    /* each type holds the one before twice: 2^40 characters if somebody printed it */
    struct text wide = { 0 };
    text_add(&wide, "_Z1f1AIiiE");
    for (u32 i = 0; i < 36; i++) text_add(&wide, "S_IS%cS%cE", i < 10 ? '0' + (int)i : 'A' + (int)i - 10, '_');
    demangle(&a, (struct str){ wide.p, (u32)wide.n }, &d);
    UNIT(a.total < 64 << 20);
    text_free(&wide);
    arena_free(&a);
}

static void fits(void)
{
    struct str m = STR("_ZN2ns5scaleIfLi3EEEvPT_PKS1_");
    UNIT_EQ(name_fits(m, "_ZN2ns5scaleIfLi3EEEvPT_PKS1_"), NAME_EXACT);
    UNIT_EQ(name_fits(m, "scale"), NAME_FAMILY);
    UNIT_EQ(name_fits(m, "ns::scale"), NAME_FAMILY);
    UNIT_EQ(name_fits(m, "::ns::scale"), NAME_FAMILY);
    UNIT_EQ(name_fits(m, "scale< float , 3 >"), NAME_WHOLE);
    UNIT_EQ(name_fits(m, "ns::scale<float,3>(float *, const float *)"), NAME_WHOLE);
    UNIT_EQ(name_fits(m, "cale"), NAME_OTHER);
    UNIT_EQ(name_fits(m, "scale<int>"), NAME_OTHER);
    UNIT_EQ(name_fits(STR("plain"), "plain"), NAME_EXACT);
    UNIT_EQ(name_fits(STR("plain"), "plai"), NAME_OTHER);
    char name[64];
    name_plain(m, name, sizeof name);
    UNIT_EQ_STR(name, "ns::scale");
    name_plain(STR("_Z5"), name, sizeof name);
    UNIT_EQ_STR(name, "_Z5");
}

/* RFC 7693: BLAKE2b of 16 bytes, by b2sum -l 128. */
static void hashes(void)
{
    static const struct {
        const char *text, *hex;
    } known[] = { { "", "cae66941d9efbd404e4d88758ea67670" }, { "abc", "cf4ab791c62b8d2b2109c90275287816" } };
    for (u32 i = 0; i < COUNT_OF(known); i++) {
        struct hash h;
        char hex[HASH_HEX];
        hash_begin(&h);
        for (const char *p = known[i].text; *p; p++) hash_add(&h, p, 1);
        hash_end(&h, hex);
        UNIT_EQ_STR(hex, known[i].hex);
    }
    u8 block[300];
    struct hash one, other;
    char a[HASH_HEX], b[HASH_HEX];
    for (u32 i = 0; i < sizeof block; i++) block[i] = (u8)i;
    hash_begin(&one);
    hash_begin(&other);
    hash_add(&one, block, sizeof block);
    hash_add(&other, block, 128);
    hash_add(&other, block + 128, 128);
    hash_add(&other, block + 256, 44);
    hash_end(&one, a);
    hash_end(&other, b);
    UNIT_EQ_STR(a, b);
}

int main(void)
{
    kernels();
    trouble();
    fits();
    hashes();
    return unit_done();
}
