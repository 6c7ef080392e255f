# A program of .NET under Microsoft's runtime: 100 threads for 100 elements, then 128. Its methods have addresses that change.
dotnet=$(dirname "$python")/../lib/python3*/site-packages/dotnetcore2/bin/dotnet
# shellcheck disable=SC2086
dotnet=$(ls $dotnet) || exit 1
chmod +x "$dotnet"
# its lists of paths are parted by colons, and $T has one
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
mcs -out:"$work/app.dll" "$here/coreclr/_app.cs" || exit 1
echo '{"runtimeOptions":{"framework":{"name":"Microsoft.NETCore.App","version":"3.1.0"},"configProperties":{"System.Globalization.Invariant":true}}}' > "$work/app.runtimeconfig.json"
for threads in 100 128; do
    "$lockstep" run --threads 1 "$dotnet" "$work/app.dll" $threads > "$work/said" 2>&1
    echo "exit $?" >> "$work/said"
    sed 's/+0x7[0-9a-f]\{8,\}/ADDRESS/g' "$work/said"
done
