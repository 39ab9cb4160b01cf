"""When a call to a service is made again: exponential backoff with jitter, and what Retry-After asks for."""

__all__ = ["Retries", "retry_after"]

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a call is made, and how long is waited between."""

    tries: int = 4
    """Calls in all, the first one included."""
    first_wait: float = 1.0
    """Seconds after the first call; doubled after each further one."""
    longest_wait: float = 60.0
    """Seconds no wait is longer than. A service that asks for more is not called again."""

    def wait_after(self, n_tries: int, asked_for: float | None, chance: float) -> float | None:
        """Return the seconds to wait after so many failed calls, None where it was the last.

        The wait is between half and the whole of its backoff, so that several callers part;
        what the service asks for is kept to where it is longer.

        Args:
            n_tries: Failed calls so far, at least 1.
            asked_for: Seconds of the service's Retry-After, None where it gave none.
            chance: A random number between 0 and 1.
        """
        if n_tries >= self.tries or (asked_for is not None and asked_for > self.longest_wait):
            return None
        backoff = min(self.first_wait * 2.0 ** (n_tries - 1), self.longest_wait)
        return max(backoff * (0.5 + 0.5 * chance), asked_for or 0.0)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that a response asks to wait, None where it says nothing readable.

    Read are ``retry-after-ms``, and ``Retry-After`` in seconds or as a date (RFC 9110,
    section 10.2.3). A date gone by is 0.

    Args:
        headers: Of the response; names in any case where the mapping does not care.
        now: With a time zone.
    """
    for name, in_seconds in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * in_seconds
        except ValueError:
            continue
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max((date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds(), 0.0)
