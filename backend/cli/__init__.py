"""The command line: one module a command group, each command one call of a service.

Commands import services inside functions, so that every command starts with no more than it
needs. Results go to stdout, everything else to stderr.
"""
