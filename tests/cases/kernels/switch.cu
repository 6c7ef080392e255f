// Switches: as comparisons, and as a jump through a table.
extern "C" __global__ void dispatch(const int *in, int *out)
{
    int t = threadIdx.x, x = in[t], y;
    switch (x) {
    case 0: y = t * 3; break;
    case 1: y = t ^ 0x55; break;
    case 2: y = 0; for (int i = 0; i < t; i++) y += i * i; break;
    case 3: y = -t;                             // falls through
    case 4: y = t + 1000; break;
    case 5: y = t << 4; break;
    case 6: out[t] = -6; return;
    case 7: y = t / 3; break;
    default: y = 12345; break;
    }
    out[t] = y;
}

// The table itself, by hand: nvcc prefers comparisons.
extern "C" __global__ void jump_table(const int *in, int *out)
{
    int t = threadIdx.x, y = 0, x = min(in[t] & 7, 4);
    asm volatile("{\n\t"
        "to_%=: .branchtargets add_%=, twice_%=, loop_%=, square_%=, none_%=;\n\t"
        "brx.idx %1, to_%=;\n"
        "add_%=:\n\t"
        "add.s32 %0, %2, 100;\n\t"
        "bra none_%=;\n"
        "twice_%=:\n\t"
        "shl.b32 %0, %2, 1;\n\t"
        "bra none_%=;\n"
        "loop_%=:\n\t"
        ".reg .pred p;\n\t"
        "add.s32 %0, %0, 7;\n\t"
        "setp.lt.s32 p, %0, %2;\n\t"
        "@p bra loop_%=;\n\t"
        "bra none_%=;\n"
        "square_%=:\n\t"
        "mul.lo.s32 %0, %2, %2;\n"
        "none_%=:\n\t"
        "}" : "+r"(y) : "r"(x), "r"(t));
    out[t] = y;
}
