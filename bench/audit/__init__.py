"""The costs of the audit trail: a failure, a success, eight concurrent processes, and a check of all records."""
