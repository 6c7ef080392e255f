/* The normal distribution and Student's: tails, and the points that cut them off. */
#include "stat/stat.h"
#include <math.h>

double stat_normal_tail(double z) { return 0.5 * erfc(z / sqrt(2)); }

/* The continued fraction of the incomplete beta function, by Lentz. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m <= 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int k = 0; k < 2; k++) {
            double term = k ? odd : even;
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            h *= d * c;
        }
        if (fabs(d * c - 1) < 1e-15) break;
    }
    return h;
}

/* The regularised incomplete beta function; lgamma would write the process's signgam. */
static double beta_part(double a, double b, double x)
{
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    int sign;
    double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stat_student_tail(double t, double df)
{
    double half = 0.5 * beta_part(df / 2, 0.5, df / (df + t * t));
    return t > 0 ? half : 1 - half;
}

/* By halves: the tail falls all the way. */
static double point_of(double p, double df)
{
    double low = -1, high = 1;
    bool student = df > 0;
    while ((student ? stat_student_tail(high, df) : stat_normal_tail(high)) > p && high < 1e12) high *= 2;
    while ((student ? stat_student_tail(low, df) : stat_normal_tail(low)) < p && low > -1e12) low *= 2;
    for (int i = 0; i < 120 && low < high; i++) {
        double mid = low + (high - low) / 2;
        if ((student ? stat_student_tail(mid, df) : stat_normal_tail(mid)) > p)
            low = mid;
        else
            high = mid;
    }
    return low + (high - low) / 2;
}
double stat_normal_point(double p) { return point_of(p, 0); }
double stat_student_point(double p, double df) { return point_of(p, df); }
