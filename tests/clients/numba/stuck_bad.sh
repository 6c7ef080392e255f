# A deadlock is proved although there are threads that were never in a call: they wait for work that only the program could give.
[ -z "$EMULATED" ] || { echo "in which call a thread sleeps is not told under emulation"; exit 77; }
OPENBLAS_NUM_THREADS=2 "$lockstep" run --threads 1 "$python" _stuck.py > "$T/said" 2>&1
rc=$?
sed 's,at cydriver[^ ]*,at BINDINGS,' "$T/said"
exit $rc
