"""What the audit trail costs: a failure, a success, eight processes at once, and a check of it all."""
