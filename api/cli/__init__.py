"""The command line: processes, and the terminal front end over the public API."""
