// Memory that nobody wrote, handled the way correct programs handle it: copied as padding, masked away, computed and dropped, or never looked at.

struct Padded { char c; int i; short s; };
struct Bits { unsigned a : 3, b : 5, c : 11, d : 13; };
union Word { int i; float f; unsigned char b[4]; short h[2]; };

// A struct with holes goes through shared memory as a whole; its fields come out right.
extern "C" __global__ void struct_copy(int *out)
{
    __shared__ Padded s[50];
    int t = threadIdx.x;
    Padded p;
    p.c = (char)t;
    p.i = blockIdx.x * 50;
    p.s = 7;
    s[t] = p;
    __syncthreads();
    Padded q = s[49 - t];
    out[q.i + 49 - t] = q.i + q.c + q.s - 7;
}

// The same as int copies, holes and all, word by word.
extern "C" __global__ void struct_as_words(int *out)
{
    __shared__ Padded a[32], b[32];
    int t = threadIdx.x;
    a[t].c = 1;
    a[t].i = t;
    a[t].s = 2;
    __syncthreads();
    for (int k = t; k < (int)(sizeof a / 4); k += 32) ((int *)b)[k] = ((int *)a)[k];
    __syncthreads();
    out[t] = b[t].i + b[t].c + b[t].s - 3;
}

// Bit-fields set one after the other in a fresh variable: the rest of the word is undefined until then.
extern "C" __global__ void bit_fields(int *out)
{
    __shared__ Bits s[33];
    int t = threadIdx.x;
    s[t].a = 5;
    s[t].b = 20;
    s[t].c = 10;
    s[t].d = 25;
    __syncthreads();
    Bits b = s[32 - t];
    out[blockIdx.x * 33 + t] = b.a + b.b + b.c + b.d;
}

// One field only of a word is set and read; the others stay undefined.
extern "C" __global__ void one_field(int *out)
{
    __shared__ Bits s[32];
    s[threadIdx.x].b = 17;
    __syncwarp();
    out[threadIdx.x] = s[31 - threadIdx.x].b;
}

// A union written by halves and read as a whole, then as bytes.
extern "C" __global__ void union_halves(int *out)
{
    __shared__ Word s[64];
    int t = threadIdx.x;
    s[t].h[0] = 0x0101;
    s[t].h[1] = 0x0001;
    __syncthreads();
    Word w = s[63 - t];
    out[t] = (w.i & 255) + (w.i >> 8 & 255) + w.b[2] + w.b[3];
}

// The tail of a tile is never filled; products with it are computed, and not stored.
extern "C" __global__ void unfilled_rows(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[16][24], bs[24][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int k = threadIdx.x; k < n; k += 16)
        if (y < n) as[threadIdx.y][k] = a[y * n + k];
    for (int k = threadIdx.y; k < n; k += 16)
        if (x < n) bs[k][threadIdx.x] = b[k * n + x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < n; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    if (x < n && y < n) c[y * n + x] = sum;
}

// Lanes past the end hold nothing; shuffles carry it, and a select drops it.
extern "C" __global__ void undefined_lanes(const int *in, int *out, int n)
{
    __shared__ int s[32];
    int lane = threadIdx.x;
    if (lane < n) s[lane] = in[lane];
    __syncwarp();
    int v = s[lane];
    for (int d = 16; d > 0; d /= 2) {
        int other = __shfl_down_sync(~0u, v, d);
        v = lane + d < n ? v + other : v;
    }
    if (lane == 0) *out = v;
}

// A local array filled as far as needed, read as far as filled, with indices that the compiler cannot know.
extern "C" __global__ void local_prefix(const int *in, int *out)
{
    int stack[64], top = 0, i = blockIdx.x * 40 + threadIdx.x;
    for (int v = in[i]; v > 0; v /= 3) stack[top++] = v % 3;
    int back = 0;
    while (top > 0) back = back * 3 + stack[--top];
    out[i] = back;
}

// Only 24 bits of a word are known; the mask comes before any use.
extern "C" __global__ void three_bytes(int *out)
{
    __shared__ unsigned w[32];
    unsigned char *b = (unsigned char *)&w[threadIdx.x];
    b[0] = 3;
    b[1] = 2;
    b[2] = 1;
    unsigned v = w[threadIdx.x] & 0xffffff;
    if (v == 66051) out[threadIdx.x] = v;
}

// strlen by words: bytes behind the end are read with it, and masked.
extern "C" __global__ void word_strlen(const unsigned char *text, int *out)
{
    __shared__ __align__(4) unsigned char s[32][16];
    int t = threadIdx.x;
    for (int k = 0; k < 12; k++) s[t][k] = text[t % 8 + k];
    s[t][12] = 0;
    int n = 0;
    for (const unsigned *p = (const unsigned *)s[t];; p++, n += 4) {
        unsigned v = *p;
        if ((v & 0xff) == 0) break;
        if ((v & 0xff00) == 0) { n += 1; break; }
        if ((v & 0xff0000) == 0) { n += 2; break; }
        if ((v & 0xff000000) == 0) { n += 3; break; }
    }
    out[t] = n;
}

// A float4 of which three are set: the fourth travels along.
extern "C" __global__ void three_of_four(float *out)
{
    __shared__ float4 s[32];
    int t = threadIdx.x;
    float4 v;
    v.x = 1;
    v.y = 2;
    v.z = 3;
    s[t] = v;
    __syncwarp();
    float4 w = s[31 - t];
    out[blockIdx.x * 32 + t] = w.x + w.y + w.z;
}

// An atomic exchange stores an undefined word, as a store would; the flag says when the value counts.
extern "C" __global__ void double_slot(int *out)
{
    __shared__ int2 s[32];
    int t = threadIdx.x;
    s[t].x = 0;
    int2 was = s[t];
    s[t] = make_int2(was.x + 1, was.y);
    __syncwarp();
    out[t] = s[31 - t].x;
}

// A minimum over shared memory where only some cells were written: a mask decides, without a branch.
extern "C" __global__ void masked_minimum(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t % 8 == 5) s[t] = in[t];
    __syncthreads();
    if (t == 0) {
        int least = 1000;
        for (int k = 0; k < 64; k++) least = k % 8 == 5 ? min(least, s[k]) : least;
        *out = least;
    }
}

// Multiplying by a zero weight is arithmetic and silent; what it makes is not stored.
extern "C" __global__ void dropped_arithmetic(int *out, int n)
{
    __shared__ int s[33];
    int t = threadIdx.x;
    s[t] = t;
    __syncwarp();
    int v = s[t] + s[t + 1] * 3;
    if (t < n) out[t] = v;
}
