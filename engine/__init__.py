"""The rules of SCOUT: pure functions over immutable values, no I/O, clock or chance of their own."""
