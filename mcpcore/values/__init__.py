"""The foundation of all other packages: untrusted values made safe, and the call that is running.

`jsonable` turns any object into JSON, `escaping` makes hostile text harmless, `untrusted` calls objects whose methods
may raise anything, `unwrapping` finds the exception that counts, `request_var` holds the call that is running. It
imports nothing of mcpcore. Begin with `jsonable`.
"""
