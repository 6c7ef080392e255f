/* Unit tests of elements in words. */
#include "report/report.h"
#include "unit.h"

enum { N = 1024 };

static void expect(bool (*in)(u64 i), u64 n, u64 columns, const char *words)
{
    u64 bits[N / 64] = { 0 };
    struct text t = { 0 };
    for (u64 i = 0; i < n; i++) bits[i / 64] |= (u64)in(i) << i % 64;
    elements_pattern(bits, n, columns, &t);
    UNIT_EQ_STR(t.p, words);
    text_free(&t);
}

static bool tail(u64 i) { return i >= 1000; }
static bool odd(u64 i) { return i % 2; }
static bool none(u64 i) { return i > N; }
static bool all(u64 i) { return i < N; }
static bool one(u64 i) { return i == 77; }
static bool right(u64 i) { return i % 64 >= 40; }
static bool rows_8(u64 i) { return i / 64 % 8; }
static bool lower(u64 i) { return i / 64 >= 8; }
static bool corner(u64 i) { return i / 64 >= 12 && i % 64 < 16; }
static bool holes(u64 i) { return i == 3 || (i >= 7 && i < 10) || i == 12; }
static bool wild(u64 i) { return i * i * 7 % 31 < 11; }
static bool diagonal(u64 i) { return i / 32 == i % 32; }

int main(void)
{
    expect(tail, N, 0, "elements 1000..1023 (24 of 1024 elements)");
    expect(odd, N, 0, "elements with i mod 2 == 1 (512 of 1024 elements)");
    expect(none, N, 0, "none of 1024 elements");
    expect(all, N, 64, "all 1024 elements");
    expect(one, N, 0, "element 77 (1 of 1024 elements)");
    expect(one, N, 64, "column 13 of row 1 (1 of 1024 elements)");
    expect(right, N, 64, "columns 40..63 of every row (384 of 1024 elements)");
    expect(rows_8, N, 64, "rows with r mod 8 != 0 (896 of 1024 elements)");
    expect(lower, N, 64, "rows 8..15 (512 of 1024 elements)");
    expect(corner, N, 64, "columns 0..15 of rows 12..15 (64 of 1024 elements)");
    expect(holes, 20, 0, "elements 3, 7..9 and 12 (5 of 20 elements)");
    expect(wild, 97, 0, "54 elements between 0 and 96, in 35 runs (54 of 97 elements)");
    expect(diagonal, N, 32, "elements with i mod 33 == 0 (32 of 1024 elements)");
    return unit_done();
}
