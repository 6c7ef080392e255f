#!/bin/sh
# gate.sh BASE [FOLDER]: what a pull request that changes CUDA kernels must pass. No GPU is needed; where there is one, times are compared, too.
#
# BASE is the commit that it is to be merged into, FOLDER where the kernels are (kernels). Into gate/ go a comment for the pull request
# (comment.md), the tests as JUnit (tests.xml) and what was measured (today.journal).
# Exit 0: pass; 1: wrong results, or lines that do more than before; 2: something could not be compared.
base=${1:?gate.sh BASE [FOLDER]} folder=${2:-kernels} code=0
mkdir -p gate && rm -rf gate/before && git worktree add -q --detach --force gate/before "$base" || exit 2
trap 'git worktree remove --force gate/before' EXIT

say() { printf '%s\n' "$@" >> gate/comment.md; }
: > gate/comment.md

# 1. Right: every kernel that has a contract, on cases that are made for it, under every check.
if lockstep test "$folder"/*.cu --junit gate/tests.xml --journal gate/today.journal > gate/tests.txt 2>&1; then
    say "**Right:** $(tail -n 1 gate/tests.txt)"
else
    code=1
    say "**Not right:**" '```' "$(grep -e '^FAILED' -e '^error' gate/tests.txt)" '```'
fi

# 2. Not dearer: what each line of a changed kernel does on the software GPU, to the bit.
for file in $(git diff --name-only --diff-filter=M "$base" -- "$folder/*.cu"); do
    said=$(lockstep compare "gate/before/$file" "$file" --threshold 5 2>&1)
    case $? in
    0) say "**$file:** $(printf '%s\n' "$said" | tail -n 1)" ;;
    1) code=1; say "**$file:**" '```' "$said" '```' ;;
    *) [ $code = 1 ] || code=2; say "**$file** could not be compared: $said" ;;
    esac
done

# 3. Not slower, where there is a GPU: the times of bench.sh, before and now, in turns. UNCLEAR fails as well.
if [ -x bench.sh ] && nvidia-smi -L > /dev/null 2>&1; then
    lockstep compare --samples time: --name "$folder" --journal gate/today.journal --markdown gate/times.md "cd gate/before && ./bench.sh" ./bench.sh > gate/times.txt
    times=$?
    say "$(cat gate/times.md)"
    [ $times = 0 ] || code=1
fi
exit $code
