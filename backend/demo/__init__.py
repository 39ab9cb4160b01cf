"""The built-in data set, and the VLM in the box that answers it."""
