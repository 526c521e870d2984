"""The cost of the audit trail: a failure, a success, eight processes in parallel, and verification."""
