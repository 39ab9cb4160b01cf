"""How files become suites, runs and images in the store.

A file is read row by row (`files`), each row is checked at the gate, and one import is one
transaction: it ends with a report of everything that went in and everything that did not.
"""
