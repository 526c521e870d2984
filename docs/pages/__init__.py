"""The generated pages, one module each: a table of the code, the docstrings or measurements go in, Markdown comes out."""
