# The example of docs/python.md.
. "$here/_docs.sh"
docs Numba scale.py
