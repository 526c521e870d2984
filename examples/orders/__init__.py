"""An order desk in front of a database and a payment service, and an agent that meets each of its failures."""
