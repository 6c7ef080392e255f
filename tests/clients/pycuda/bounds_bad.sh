# The text of a SourceModule is compiled in a folder that is gone when it runs. Numbers of lines of PTX depend on the toolkit, and are left out.
"$lockstep" run "$python" _bounds.py 2>&1 | sed 's,/tmp/tmp[^/]*/,,' | grep -E '^error|kernel.cu|= (kernel|launch|range|who|memory|cause):|findings'
exit "${PIPESTATUS[0]}"
