"""What clients see: output types built from engine views, inputs turned into commands."""
