#!/usr/bin/env python3
# compare.py NCU.csv PROFILE.json [KERNEL ...]: the counters of both, for each kernel; compare.py --metrics: those that ncu is asked for.
# A metric of ncu is one number of the profile, or the sum of several, by a path in `counts`. What tests/profile/different lists, as
# `KERNEL METRIC: reason`, may differ.
import csv, json, os, sys

MEM = "l1tex__t_%s_pipe_lsu_mem_%s_op_%s.sum"
SHARED = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_%s.sum"
METRICS = {}
for space in ("global", "local"):
    for op, ours in (("ld", "load"), ("st", "store")):
        METRICS[MEM % ("requests", space, op)] = [(space, ours, "requests")]
        METRICS[MEM % ("sectors", space, op)] = [(space, ours, "sectors")]
# cp.async (LDGSTS) is among the loads of global memory
for what in ("requests", "sectors"):
    METRICS[MEM % (what, "global", "ld")].append(("global", "copy", what))
METRICS[MEM % ("sectors", "global", "red")] = [("global", "reduction", "sectors")]
METRICS[MEM % ("sectors", "global", "atom")] = [("global", "atomic", "sectors")]
METRICS[SHARED % "ld"] = [("shared", "load", "wavefronts")]
METRICS[SHARED % "st"] = [("shared", "store", "wavefronts")]
METRICS["smsp__inst_executed_op_shared_ld.sum"] = [("shared", "load", "requests")]
METRICS["smsp__inst_executed_op_shared_st.sum"] = [("shared", "store", "requests")]
METRICS["smsp__inst_executed_op_global_ld.sum"] = [("global", "load", "requests"), ("global", "copy", "requests")]
METRICS["smsp__inst_executed_op_global_st.sum"] = [("global", "store", "requests")]
# lanes: threads of memory instructions that are not predicated off
METRICS["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] = None
METRICS["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"] = None
METRICS["smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"] = None
METRICS["smsp__inst_executed.sum"] = None
METRICS["smsp__thread_inst_executed.sum"] = None


def at(counts, path):
    for key in path:
        counts = counts.get(key, {})
    return counts or 0


def short(name):
    return name.split("(")[0].split("<")[0].split("::")[-1].strip()


def read_ncu(path):
    found = {}
    lines = [l for l in open(path, newline="") if not l.startswith("==")]
    rows = list(csv.reader(lines))
    head = rows[0]
    name = head.index("Kernel Name")
    for row in rows[1:]:
        if len(row) < len(head) or not row[0]:
            continue  # the line of units
        sums = found.setdefault(short(row[name]), {"launches": 0})
        sums["launches"] += 1
        for metric in METRICS:
            if metric in head:
                text = row[head.index(metric)].replace(",", "")
                sums[metric] = sums.get(metric, 0) + int(float(text or 0))
    return found


def read_ours(path):
    found = {}
    for device in json.load(open(path))["devices"]:
        for kernel in device["kernels"]:
            sums = found.setdefault(short(kernel["plain"]), {"launches": 0, "counts": []})
            sums["launches"] += kernel["launches"]
            sums["counts"].append(kernel["counts"])
    return found


def reasons():
    path = os.path.join(os.path.dirname(__file__), "different")
    out = {}
    for line in open(path) if os.path.exists(path) else []:
        if line.strip() and not line.startswith("#"):
            key, why = line.split(":", 1)
            out[tuple(key.split())] = why.strip()
    return out


def main():
    if sys.argv[1:2] == ["--metrics"]:
        print(",".join(METRICS))
        return 0
    theirs, ours, chosen, why = read_ncu(sys.argv[1]), read_ours(sys.argv[2]), sys.argv[3:], reasons()
    equal = differ = excused = 0
    used = set()
    table = {}
    for name in sorted(set(theirs) | set(ours)):
        if chosen and name not in chosen:
            continue
        if name not in theirs or name not in ours or theirs[name]["launches"] != ours[name]["launches"]:
            print("%s: %s launches there, %s here" % (name, theirs.get(name, {}).get("launches", 0), ours.get(name, {}).get("launches", 0)))
            differ += 1
            continue
        bad = 0
        for metric, paths in METRICS.items():
            if paths is None or metric not in theirs[name]:
                continue
            there = theirs[name][metric]
            here = sum(at(c, p) for c in ours[name]["counts"] for p in paths)
            row = table.setdefault(metric, [0, 0])
            if here == there:
                equal += 1
                row[0] += 1
                continue
            row[1] += 1
            reason = why.get((name, metric)) or why.get((name, "*"))
            used |= {(name, metric), (name, "*")} & set(why)
            excused += reason is not None
            differ += reason is None
            bad += reason is None
            print("%s: %s: GPU %d, here %d%s" % (name, metric, there, here, " (%s)" % reason if reason else ""))
        flops = sum(c.get("operations", {}).get("f32", 0) for c in ours[name]["counts"])
        sass = sum(k * theirs[name].get("smsp__sass_thread_inst_executed_op_%s_pred_on.sum" % op, 0) for op, k in (("ffma", 2), ("fadd", 1), ("fmul", 1)))
        insns = sum(c["warp_instructions"] for c in ours[name]["counts"])
        print("%-24s %s; PTX's view: f32 %d (SASS %d), warp instructions %d (SASS %d)" % (name, "equal" if not bad else "DIFFERENT", flops, sass, insns, theirs[name].get("smsp__inst_executed.sum", 0)))
    print()
    for metric, (same, other) in table.items():
        print("%4d equal %4d different  %s" % (same, other, metric))
    stale = [] if chosen else sorted(set(why) - used)
    for name, metric in stale:
        print("tests/profile/different: %s %s is equal: the line may go" % (name, metric))
    print("%d equal, %d different, %d different for a known reason" % (equal, differ, excused))
    return 1 if differ else 0


sys.exit(main())
