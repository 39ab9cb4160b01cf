"""The screen: one file a page, and what they share in ``ui``."""
