"""The main job on one machine: the real server, and beside it a stand-in for GitHub with a small issue tracker page.

- :mod:`bot.demo.github` is the stand-in;
- :mod:`bot.demo.running` starts both and knows how far an issue is;
- :mod:`bot.demo.page` is the issue tracker page, :mod:`bot.demo.rendering` its Markdown;
- ``examples/`` holds issue texts around real program output.
"""
