// W(2, right, wrong): `wrong` where the file is compiled with -DWRONG=2, `right` otherwise. A line `// wrong KERNEL 2: NAME` in a file says which name
// `lockstep test` should give that mistake, as a regular expression; tests/lab-experiments --names counts them.
#ifndef WRONG
#define WRONG 0
#endif
#define SAME_1_1 ~, 1
#define SAME_2_2 ~, 1
#define SAME_3_3 ~, 1
#define SAME_4_4 ~, 1
#define SAME_5_5 ~, 1
#define SAME_6_6 ~, 1
#define SAME_7_7 ~, 1
#define SAME_8_8 ~, 1
#define SAME_9_9 ~, 1
#define SECOND_(a, b, ...) b
#define SECOND(...) SECOND_(__VA_ARGS__)
#define PASTE_(a, b, c) a##b##_##c
#define PASTE(a, b, c) PASTE_(a, b, c)
#define TAKE_0(right, wrong) right
#define TAKE_1(right, wrong) wrong
#define TAKE_(yes) TAKE_##yes
#define TAKE(yes) TAKE_(yes)
#define W(n, right, wrong) TAKE(SECOND(PASTE(SAME_, n, WRONG), 0))(right, wrong)
