"""What operators can do: look after matches, processes and tokens, each act on record."""
