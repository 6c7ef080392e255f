# The example of docs/use/python.md.
. "$here/_docs.sh"
docs CuPy total.py
