"""The proxies for how much an answer rested on the image (section 4.4): their names and what they say.

The paper compares two. A third of ours sets the first against what even attention would give, for a verifier's prompt
is longer and leaves any image a smaller share. None of them says why an answer was given.
"""

__all__ = ["ALL", "NO_OUTCOME", "SIDES", "Proxy"]

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

SIDES = ("generator", "verifier")
"""Who is compared, in the order of every difference: generator minus verifier."""


ALL = "all"
"""In place of a group: all verifications together."""

NO_OUTCOME = "no_outcome"
"""In place of an outcome: the answer was not judged, or the verdict is left out."""


class Proxy(StrEnum):
    """A number that stands for how much an answer rested on the image."""

    FRACTION = "fraction"
    TIMES_EVEN = "times_even"
    GRADIENT = "gradient"

    @property
    def label(self) -> str:
        """Name on an axis."""
        return _WORDS[self].label

    @property
    def plain(self) -> str:
        """What it says, as a sentence for a clinician."""
        return _WORDS[self].plain

    @property
    def formula(self) -> str:
        """How it is computed, in words."""
        return _WORDS[self].formula

    @property
    def source(self) -> str:
        """Where it comes from."""
        return _WORDS[self].source

    @property
    def undefined_when(self) -> str:
        """When it is N/A, as the rest of a sentence that begins with "N/A"."""
        return _WORDS[self].undefined_when


class _Words(NamedTuple):
    label: str
    plain: str
    formula: str
    source: str
    undefined_when: str


_WORDS: Mapping[Proxy, _Words] = MappingProxyType(
    {
        Proxy.FRACTION: _Words(
            "Image saliency fraction",
            "How much of its attention went to the image rather than to the words.",
            "attention on image tokens / all attention, the mean over answer tokens, layers and heads",
            "VeriMap, section 4.4 and Fig. 5, left",
            "the answer was not looked into",
        ),
        Proxy.TIMES_EVEN: _Words(
            "Times even share",
            "How much of its attention went to the image, against attention spread evenly over image and words: "
            "1 is even, above 1 favours the image.",
            "image saliency fraction / even share, which is the share of image tokens among all that can be seen",
            "Parallax's own, not in the paper; the even share falls as a prompt grows",
            "no image token can be seen",
        ),
        Proxy.GRADIENT: _Words(
            "Mean gradient activation",
            "How sensitive the answer was to what stands in the image.",
            "mean over image tokens of |gradient × activation| of the answer's log-likelihood at the image embeddings",
            "VeriMap, section 4.4 and Fig. 5, right; its scale is a VLM's own",
            "the VLM gives no gradient at the image",
        ),
    }
)
