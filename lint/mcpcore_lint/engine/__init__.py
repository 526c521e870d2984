"""What the linter knows of a project, without importing its code.

Four packages, each importing only those above it in this list: `syntax` reads files and names, `semantics` evaluates
expressions and classes, `flow` says what a function can raise, `registrations` finds what registers tools. Begin with
`syntax.project`, then `registrations.build`, which makes the tools that rules see.
"""
