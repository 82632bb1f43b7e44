"""The commands. One file for each group; heavy libraries are imported inside the commands, so that each starts quickly."""

from bot.cli.app import main

__all__ = ["main"]
