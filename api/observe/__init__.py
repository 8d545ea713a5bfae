"""What tells operators how the processes fare: metrics, lines of the log, traces."""
