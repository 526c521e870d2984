"""The script of a call: from an exception to an outcome, its record and the answer. It knows no framework.

It may import `audit`, `wire`, `classification`, `contract` and `values`; `sdk/` and `integrations/fastmcp/` hand it the
facts of their requests. Begin with `script`, whose `Boundary` records a failure before anything is answered; `mapper`
says which failure an exception is.
"""
