"""Occurrences held against the catalogue: which record, which site, how sure; silence below the bar."""

from bot.matching.verdict import Matcher, match, matcher

__all__ = ["Matcher", "match", "matcher"]
