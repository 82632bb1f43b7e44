"""Reading: an issue's text to occurrences and versions. Pure: the same text gives the same reading."""

from bot.reading.reader import read

__all__ = ["read"]
