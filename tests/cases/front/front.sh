#!/usr/bin/env bash
# front.sh BUILD: lockstep-front.so in front of programs. The runtimes and libraries here are made up (runtime.c, shell.c).
cd "$(dirname "$0")" || exit 2
t=$(mktemp -d) || exit 2 # LD_AUDIT is a list with colons between its files: the folder's name must have none
trap 'rm -rf "$t"' EXIT
mkdir "$t/front"
cp "$1/front/lockstep-front.so" "$t/front/" || exit 2
for n in 11.0 12 13; do cc -shared -fPIC -DNUMBER=${n%.0} -o "$t/front/libcudart.so.$n" shell.c || exit 2; done
cc -shared -fPIC -DNUMBER=1 -o "$t/front/libcuda.so.1" shell.c || exit 2
for r in 11 12 13; do cc -O1 -fPIC -DRUNTIME=$r -o "$t/static$r" program.c runtime.c -ldl || exit 2; done
cc -O1 -fPIC -shared -DRUNTIME=13 -o "$t/libuser.so" runtime.c && cc -o "$t/opens" program.c -ldl || exit 2
cc -O1 -fPIC -shared -o "$t/libstubs.so" stubs.c || exit 2
strip -o "$t/stripped" "$t/static13" || exit 2
under() { echo "-- $*"; LD_AUDIT=$t/front/lockstep-front.so "$t/$1" "${@:2}" 2>&1; }
{
    export LOCKSTEP_LOG=front
    for r in 11 12 13; do under static$r; done
    under opens "$t/libuser.so" use
    under opens /nowhere/libcuda.so.1 cuInit libcuda.so.580.65.06 cuInit libcudart.so.12.9.79 cudaFree libcuda.sox cuInit
    unset LOCKSTEP_LOG
    under stripped
    under opens "$t/libstubs.so" own
    # where the kernel knows no PR_SET_MDWE, which came with Linux 6.3, the expected lines are shown
    under opens mdwe "$t/libuser.so" use > "$t/mdwe"
    if grep -q 'no prctl' "$t/mdwe"; then sed -n '/^-- opens mdwe/,$p' front.out; else cat "$t/mdwe"; fi
} | sed "s|$t/||g"
