"""The rules of SCOUT: pure functions over immutable values; no I/O, no clock, no chance."""
