"""explainbot: the answer stands below an issue with an error within seconds, short, and linked to the line that raised it.

The program in one line: ``answer(match(read(issue), catalogue))``.

- :mod:`bot.reading` turns an issue's text into occurrences of errors and the versions that the reporter states;
- :mod:`bot.catalogue` turns source code into raise sites, and those with what people wrote into records;
- :mod:`bot.matching` holds occurrences against the catalogue, and decides: answer, answer with care, or stay silent;
- :mod:`bot.answering` says it in Markdown;
- everything else brings the issue in (:mod:`bot.web`, :mod:`bot.trackers`), carries the answer out (:mod:`bot.work`), or remembers
  (:mod:`bot.store`).
"""

__version__ = "0.1.0"
