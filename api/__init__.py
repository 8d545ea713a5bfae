"""The match service and the transports that lead to it."""
