# The cases of C#, which are skipped where mono is missing.
"$top/tests/run" --build "${lockstep%/lockstep}" run/csharp_bad run/csharp_ok
