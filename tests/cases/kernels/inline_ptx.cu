// PTX written by hand inside CUDA: several instructions, registers and labels of its own, predicates, vectors.
extern "C" __global__ void inline_ptx(const int *in, int *out)
{
    int t = threadIdx.x, x = in[t], y, a, b, c;
    asm("{\n\t"
        ".reg .pred p;\n\t"
        ".reg .b32 r;\n\t"
        "setp.gt.s32 p, %1, 10;\n\t"
        "mov.b32 r, 5;\n\t"
        "@p add.s32 r, r, %1;\n\t"
        "@!p sub.s32 r, r, %1;\n\t"
        "mad.lo.s32 %0, r, 3, 1;\n\t"
        "}" : "=r"(y) : "r"(x));
    asm volatile("{\n\t"
        ".reg .b32 i;\n\t"
        "mov.u32 i, %1;\n"
        "$again_%=:\n\t"
        "add.s32 %0, %0, i;\n\t"
        "sub.s32 i, i, 1;\n\t"
        ".reg .pred q;\n\t"
        "setp.ge.s32 q, i, 0;\n\t"
        "@q bra $again_%=;\n\t"
        "}" : "+r"(y) : "r"(t % 9));
    asm("bfe.u32 %0, %1, 4, 8;" : "=r"(a) : "r"(x * 1000));
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(b) : "r"(x), "r"(t), "r"(a));
    asm("prmt.b32 %0, %1, %2, 0x3715;" : "=r"(c) : "r"(x), "r"(a * 77777));
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" :: "l"(out + 4 * t), "r"(y), "r"(a), "r"(b), "r"(c) : "memory");
}
