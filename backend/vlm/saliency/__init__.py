"""Saliency: what of the image a VLM attended to, and what its answer depended on, token by token."""
