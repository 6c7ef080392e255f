# All entries of the runtimes that are linked into these modules come to Lockstep's.
LOCKSTEP_LOG=front "$lockstep" run "$python" -c "import cupy.cuda.thrust, cupy.cuda.cub" 2>&1 | sed 's,^\(lockstep: front: \).*/\([a-z]*\)\.cpython[^:]*,\1\2,; s,run: .*/bin/,run: ,; s,: .*/bin/python3 used,: python3 used,'
exit "${PIPESTATUS[0]}"
