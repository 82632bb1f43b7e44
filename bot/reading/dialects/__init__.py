"""Ways of printing an error, one file each.

A dialect is a function from a :class:`~bot.reading.markdown.Block` to :class:`~bot.reading.grammar.Finding`. It is registered with a rank:
lines that a dialect of a lower rank has taken are not offered to the next.
"""
