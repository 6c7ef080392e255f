# The example of docs/use/python.md.
. "$here/_docs.sh"
docs Numba scale.py
