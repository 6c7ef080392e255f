# docs SECTION FILE: the example in a section of docs/use/python.md, run as FILE exactly as it is printed; the first block of the section is the script, the second one is what
# the report has to contain. Names that are made of a hash may differ.
docs() {
    sed -n "/^## $1\$/,/^## /p" "$here/../../docs/use/python.md" > "$T/section"
    awk -v n=1 -v T="$T" '/^    / { in_block = 1; sub(/^    /, ""); print > (T "/block" n); next }
        /^$/ { if (in_block) print > (T "/block" n); next }
        { if (in_block) n++; in_block = 0 }' "$T/section"
    sed -i -e :a -e '/^\n*$/{$d;N;ba' -e '}' "$T/block1" "$T/block2"
    cp "$T/block1" "$T/$2"
    (cd "$T" && "$lockstep" run --threads 1 "$python" "$2") > "$T/report" 2>&1
    echo "exit code $?"
    "$python" - "$T/block2" "$T/report" << 'END'
import re, sys
page, report = (re.sub("[0-9a-f]{40}", "HASH", open(f).read()) for f in sys.argv[1:])
print("the report is that of the page" if page in report else f"the report is not that of the page:\n{report}")
END
}
