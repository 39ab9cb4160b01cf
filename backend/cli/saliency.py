"""``saliency``: what a VLM attended to when it answered, and when it judged an answer."""

__all__ = ["group"]

from backend.cli import saliency_live, saliency_run
from backend.cli.options import command_group

group = command_group("saliency", "Saliency: what of an image a VLM attended to, and what its answer depended on.")
saliency_live.register(group)
saliency_run.register(group)
