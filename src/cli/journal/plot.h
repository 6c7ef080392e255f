/* plot.h: times of journals as pictures (SVG), which stand alone. */
#ifndef LOCKSTEP_JOURNAL_PLOT_H
#define LOCKSTEP_JOURNAL_PLOT_H
#include "journal/times.h"

enum plot_kind {
    PLOT_LANDSCAPE, /* times, or bytes a second, over the size that varies */
    PLOT_SAMPLES,   /* every sample, by entry and process */
    PLOT_ROOFLINE,  /* operations a second over operations a byte, below the card's roofs */
    PLOT_KINDS
};
extern const char *const plot_kind_name[PLOT_KINDS];
/* The entries of one picture into `out`. false: none of them can be shown, e says why. */
bool plot_svg(struct arena *a, enum plot_kind kind, const struct timed *t, u32 n, struct text *out, struct error *e);
/* "1.5k", "2 us", "3 TB/s": a number at an axis; unit "s" counts down in thousandths, others up. */
void plot_label(double x, const char *unit, char *out, size_t size);
/* The ends of an axis that has these numbers, and its step: 1, 2 or 5 times a power of ten; of a logarithmic one powers
 * of two or ten. Returns how many marks there are. */
u32 plot_marks(double low, double high, bool is_log, double *mark, u32 most);
#endif
