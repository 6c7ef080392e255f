# A bug of PyCUDA's own.
"$lockstep" run --max-findings 1 "$python" _reduction.py 2>&1 | sed 's,/tmp/tmp[^/]*/,,' | grep -E '^error|kernel.cu|= (kernel|launch|range|who|memory|cause):|findings'
exit "${PIPESTATUS[0]}"
