/* What is wrong with bulk and other asynchronous copies: sizes and addresses that none of them has, and copies that
 * nobody has waited for when their thread leaves. */
#include "sim/asked.h"
#include "sim/finding_place.h"
#include "units/bulk.h"

static void report_lane(struct warp *w, u32 op, u32 lane, u32 check, struct finding *f)
{
    if (w->cta->launch->in->checks & check) finding_add(w, op, f, 1u << lane);
}

void bulk_wrong_size(struct warp *w, u32 op, u32 lane, u32 bytes)
{
    char cause[120];
    struct finding f = { .kind = F_bulk_size, .cause = cause };
    snprintf(cause, sizeof cause, "%u bytes = %u * %u + %u, and a bulk copy moves a multiple of %u", bytes,
             bytes / BULK_UNIT, BULK_UNIT, bytes % BULK_UNIT, BULK_UNIT);
    report_lane(w, op, lane, CHECK_ALIGN, &f);
}

void bulk_wrong_start(struct warp *w, u32 op, u32 lane, u64 at)
{
    char cause[120];
    struct finding f = { .kind = F_bulk_size, .cause = cause };
    snprintf(cause, sizeof cause, "the address is %u more than a multiple of %u, and a bulk prefetch begins at one",
             (u32)(at % BULK_UNIT), BULK_UNIT);
    report_lane(w, op, lane, CHECK_ALIGN, &f);
}

void bulk_wrong_length(struct warp *w, u32 op, u32 lane, u64 bytes)
{
    char cause[120];
    struct finding f = { .kind = F_bulk_size,
                         .cause = cause,
                         .fix = "Set a multiple of 8 bytes, 16777216 at most, and the rest by ordinary stores." };
    if (bytes % 8)
        snprintf(cause, sizeof cause, "%llu bytes = %llu * 8 + %llu, and st.bulk sets a multiple of 8",
                 (unsigned long long)bytes, (unsigned long long)(bytes / 8), (unsigned long long)(bytes % 8));
    else
        snprintf(cause, sizeof cause, "%llu bytes, and st.bulk sets 16777216 at most", (unsigned long long)bytes);
    report_lane(w, op, lane, CHECK_ALIGN, &f);
}

void bulk_no_cluster(struct warp *w, u32 op, u32 lane)
{
    struct finding f = { .kind = F_cluster_none,
                         .cause = "the copy stays within shared memory, and the launch has no cluster dimension" };
    report_lane(w, op, lane, CHECK_BOUNDS, &f);
}

void bulk_store_not_shared(struct warp *w, u32 op, u32 lane)
{
    struct finding f = { .kind = F_invalid_address,
                         .cause = "st.bulk sets shared memory; this address is of other memory",
                         .fix = "Give it the address of an array in shared memory." };
    report_lane(w, op, lane, CHECK_BOUNDS, &f);
}

void async_store_not_shared(struct warp *w, u32 op, u32 lane)
{
    struct finding f = { .kind = F_invalid_address,
                         .cause =
                             "an asynchronous store goes to the shared memory of a block of the cluster and signals an "
                             "mbarrier there; this address is of other memory",
                         .fix = "Give it addresses that mapa made (cluster.map_shared_rank)." };
    report_lane(w, op, lane, CHECK_BOUNDS, &f);
}

void copies_unfinished(struct warp *w, const struct lowered *low, u32 op, u32 lanes, u32 bytes)
{
    char cause[160];
    struct finding f = { .kind = F_async_unfinished, .cause = cause };
    snprintf(cause, sizeof cause,
             "the thread left with copies of %u bytes that were started here and that it had not waited for", bytes);
    finding_add_of(w, low, op, &f, lanes); /* the lanes may leave from another function than the copy's */
}
