"""Parallax: the same image asked from two lines of sight, and where the answers part.

Everything below this package works without a screen: pages and the command line call it.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
