"""How much a caller may ask of all processes together: buckets counted in Redis."""
