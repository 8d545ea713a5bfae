"""Series of matches between bots: the service, and what it needs from a store."""
