"""VeriMap: an answer and the VLM's verdict on it."""
