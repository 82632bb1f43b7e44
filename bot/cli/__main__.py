"""``python -m bot.cli``: the console script without an installed script."""

from bot.cli import main

main()
