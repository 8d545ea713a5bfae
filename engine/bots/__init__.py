"""Bots: pure functions of what their seat may know and a seed."""

from engine.bots.levels import LEVELS, Level, quick_action
from engine.bots.nets import load_nets

__all__ = ["LEVELS", "Level", "load_nets", "quick_action"]
