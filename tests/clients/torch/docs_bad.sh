# The example of docs/python.md.
. "$here/_docs.sh"
docs Triton add.py
