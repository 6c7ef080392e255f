"""Executes a notebook by nbclient, as nbconvert does, and prints what its cells show."""
import logging

import nbclient
import nbformat

logging.disable(logging.WARNING)


def show(*cells):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3").execute()
    for number, cell in enumerate(notebook.cells, 1):
        print(f"---- cell {number}")
        for output in cell.outputs:
            print(output.get("text") or output.get("data", {}).get("text/plain"))
