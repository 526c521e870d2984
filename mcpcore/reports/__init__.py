"""What reports in several formats share: escaping for HTML and Markdown, and the frame of a page.

The tools around a server call it with their own texts; it imports only `values`. Begin with `markdown`.
"""
