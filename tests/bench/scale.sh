#!/usr/bin/env bash
# scale.sh BUILD [N...]: how Lockstep scales with its workers (1 2 4 8 16, up to the processors here). Medians of 9 runs, ms,
# and the speed against one worker.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-build}" && pwd) || exit 2
shift
[ $# -gt 0 ] || for n in 1 2 4 8 16; do [ "$n" -le "$(nproc)" ] && set -- "$@" "$n"; done
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
"$build/bench/inputs" make "$work" || exit 1
printf '%-12s' workers; printf '%18s' "$@"; echo
while IFS='|' read -r name shape args rest; do
    printf '%-12s' "$name"
    base=
    for n; do
        a=${args//@A/@$work/$name.a.bin}; a=${a//@B/@$work/$name.b.bin}
        ms=$(cd "$here" && "$build/lockstep" launch $shape --threads "$n" $a --time 9 2>&1 | sed -n 's/^time: \([0-9.]*\) ms.*/\1/p')
        : "${base:=$ms}"
        printf '%18s' "$(awk -v a="$base" -v b="$ms" 'BEGIN { if (b + 0 > 0) printf "%.2f ms %5.2fx", b, a / b; else printf "failed" }')"
    done
    echo
done < <(grep -v '^#' "$here/kernels")
