"""What contracts save an agent: the same errands against the order desk with contracts and with plain errors."""
