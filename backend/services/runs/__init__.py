"""Batch runs: one VLM answers a whole suite, into a folder of its own, and later into the store.

A *plan* says what is asked (`plan`, `manifest`), a *run folder* keeps what was answered
(`record`, `folder`), and the runner asks what the folder still lacks (`runner`), so that a run
that was stopped or killed goes on where it was. The store is read for the plan alone; the
folder is taken into it afterwards (`import_run`), and `overview` tells of all runs.
"""
