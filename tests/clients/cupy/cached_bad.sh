# The second run takes the kernel out of CuPy's cache: its text is shown all the same.
$lockstep run --quiet --threads 1 $python raw_bad.py > $T/first 2>&1
$lockstep run --quiet --threads 1 $python raw_bad.py > $T/second 2>&1
ls $T/cache/lockstep/clients/cupy | grep -c cubin
diff $T/first $T/second > $T/differs && echo "the same report" || head -20 $T/differs
