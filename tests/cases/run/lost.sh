# For lost.case: runs the program in each of the given ways; what is printed, what is in the JSON, what the launcher says.
lockstep=$1 T=$2
shift 2
cd "$T" || exit 1
for how; do
    rm -f r.json* said
    timeout 60 "$lockstep" run --seed 1 --json r.json ./lost $how > said 2>&1
    echo "$how: exit $?, printed $(grep -c 'error\[bounds' said), in JSON $(cat r.json* 2> /dev/null | grep -o '"id":"bounds"' | wc -l)"
    grep '^lockstep: \|^files\|^blocked\|^cu' said | sed 's/process [0-9]*/process N/; s|/tmp/lockstep-left\.[A-Za-z0-9]*|FILE|'
done
