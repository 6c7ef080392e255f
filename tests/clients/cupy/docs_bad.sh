# The example of docs/python.md.
. "$here/_docs.sh"
docs CuPy total.py
