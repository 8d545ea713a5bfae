"""Where matches are kept: the Redis log, and its twin in memory."""
