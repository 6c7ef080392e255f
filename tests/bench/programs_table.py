#!/usr/bin/env python3
"""programs_table.py BUILD FOLDER [NAME...]: what the checks cost whole programs under `lockstep run`, in processor seconds.

FOLDER has the programs of programs.list, built: NAME|PROGRAM|ARGUMENTS|WHERE FROM; PROGRAM is its path below FOLDER, in
whose folder it is run. One that is not there is passed over. Nothing is fetched here: `tests/real/programs hecbench
CHECKOUT build --made FOLDER NAME...` builds HeCBench's below FOLDER/src, the others are built by hand as their list
says. A line for each: seconds with all checks, without races and asynchronous copies, without initialised values, with
no check; all to none; the share of all that races and values take. The least of RUNS runs (3); LOCKSTEP_THREADS and
the like are left as they are. Exit 1: a program ended otherwise with all checks than without races.
"""
import math, os, resource, shlex, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
WAYS = [("all", []), ("no race", ["--no-check", "race,async"]), ("no init", ["--no-check", "init"]), ("none", ["--check", "none"])]


def seconds(lockstep, way, program, arguments):
    """Processor seconds of one run with all that it starts, and how the program ended."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [lockstep, "run", "--quiet", "--error-exitcode", "77", *way, "./" + os.path.basename(program), *arguments]
    code = subprocess.run(command, cwd=os.path.dirname(program), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, code


def main():
    if len(sys.argv) < 3: sys.exit(__doc__)
    lockstep, folder, names = os.path.join(os.path.abspath(sys.argv[1]), "lockstep"), os.path.abspath(sys.argv[2]), sys.argv[3:]
    runs, ratios, wrong = int(os.environ.get("RUNS", "3")), {}, []
    print(f"{'program':24}" + "".join(f"{name:>9}" for name, _ in WAYS) + "    ratio  races values")
    for line in open(os.path.join(HERE, "programs.list")):
        if line.startswith("#") or not line.strip(): continue
        name, program, arguments, _ = line.rstrip("\n").split("|")
        program = os.path.join(folder, program)
        if (names and name not in names) or not os.access(program, os.X_OK): continue
        least, codes = [], []
        for _, way in WAYS:
            took = [seconds(lockstep, way, program, shlex.split(arguments)) for _ in range(runs)]
            least.append(min(t for t, _ in took))
            codes.append(took[0][1])
        every, unraced, uninit, none = least
        if codes[0] not in (codes[1], 77): wrong.append(name)
        ratios[name] = every / none
        print(f"{name:24}" + "".join(f"{t:9.3f}" for t in least) + f"{every / none:9.2f}{max(0, 1 - unraced / every):7.0%}{max(0, 1 - uninit / every):7.0%}", flush=True)
    if not ratios: sys.exit(f"programs_table: none of the programs of programs.list is in {folder}")
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    most = max(ratios, key=ratios.get)
    print(f"{len(ratios)} programs: {mean:.2f} times as long with all checks as with none, geometric mean (limit 1.6); at most {ratios[most]:.2f}, {most} (limit 3)")
    for name in wrong: print(f"programs_table: {name} does not end with all checks as it does without races", file=sys.stderr)
    return len(wrong) > 0


sys.exit(main())
