// Control flow that takes a warp apart and must put it together again.
extern "C" __global__ void trips(int *out, int *joined)     // per-lane trip counts, one loop inside another
{
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < t % 7; i++)
        for (int j = 0; j <= (t + i) % 5; j++)
            sum += i * 10 + j;
    out[t] = sum;
    joined[t] = __popc(__activemask());         // a property, not a promise: all 32 here
}

extern "C" __global__ void jumps(int *out)                  // break, continue, goto, return from inside
{
    int t = threadIdx.x, s = 0;
    for (int i = 0; i < 20; i++) {
        if (i == t)
            continue;
        if ((i * t) % 11 == 10)
            break;
        for (int j = 0; ; j++) {
            if (j > i % 4)
                goto next;
            if (j * i > 25)
                goto done;
            s += j + 1;
        }
next:
        if (s > 200) {
            out[t] = -s;
            return;
        }
        s += i;
    }
done:
    out[t] = s;
}

extern "C" __global__ void two_entries(int *out, int n)     // a loop entered at two places
{
    int t = threadIdx.x, i = 0, s = 0;
    if (t & 1)
        goto middle;
top:
    s += 3;
    if (s > 100 + t)
        goto end;
middle:
    s += t + 1;
    i++;
    if (i < n)
        goto top;
end:
    out[t] = s * 100 + i;
}

extern "C" __global__ void nest(const int *in, int *out)    // six deep
{
    int t = threadIdx.x, x = in[t], r = 0;
    if (x & 1) {
        r += 1;
        if (x & 2) {
            r += 2;
            while (x & 4) {
                r += 4;
                if (x & 8) {
                    do {
                        r += 8;
                        x -= 16;
                    } while (x > 32);
                }
                if (r > 60)
                    break;
                x ^= r & 4;
            }
        } else if (x & 8)
            r *= 100;
    } else if (x & 4)
        r = x > 20 ? (x > 40 ? 7 : 6) : 5;
    out[t] = r;
}
