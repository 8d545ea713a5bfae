"""Bots: pure functions of what their seat may know and a seed."""

from engine.bots.levels import LEVELS, Level, quick_action

__all__ = ["LEVELS", "Level", "quick_action"]
