// Ballot, any, all, match, activemask, reductions of a warp, lane masks.
extern "C" __global__ void votes(const int *in, unsigned *out)
{
    int t = threadIdx.x, x = in[t], all_same;
    unsigned *row = out + t;
    row[0 * 32] = __ballot_sync(~0u, x & 1);
    row[1 * 32] = __any_sync(~0u, x > 100);
    row[2 * 32] = __all_sync(~0u, x >= 0);
    row[3 * 32] = __match_any_sync(~0u, x % 5);
    row[4 * 32] = __match_all_sync(~0u, x % 5, &all_same) + all_same;
    if (t < 20)
        row[5 * 32] = __activemask();
    else
        row[5 * 32] = __ballot_sync(0xfff00000, t & 4);
    row[6 * 32] = __reduce_add_sync(~0u, x);
    row[7 * 32] = __reduce_max_sync(~0u, x) ^ __reduce_xor_sync(~0u, (unsigned)x);
}

extern "C" __global__ void bits(const unsigned *in, int *out)
{
    int t = threadIdx.x;
    unsigned x = in[t];
    out[t] = __popc(x) + 100 * __clz(x) + 10000 * __ffs(x);
    out[t + 32] = __brev(x);
    out[t + 64] = __byte_perm(x, 0x11223344, 0x5140);
    out[t + 96] = __funnelshift_l(x, 0x80000001, t);
}
