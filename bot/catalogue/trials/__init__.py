"""Guard and handler of a record are tried: does the guard tell when the error is raised, does the handler catch it?

What is tried comes from pull requests. Neither the project's code nor anything else is imported for it: :mod:`allowed` refuses what is
not on its list, and the rest runs among stubs (:mod:`world`) in a process without rights (:mod:`stage`), which :mod:`trying` starts.
"""
