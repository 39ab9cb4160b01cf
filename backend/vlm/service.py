"""A remote service that speaks the OpenAI chat protocol: where it is, and how it wants to be asked.

Keys are named, never held: a service knows the environment variable of its key, and the key is
read each time a call goes out. Nothing here, no error and no record shows it.
"""

__all__ = ["Service", "key_of"]

import ipaddress
import os
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from backend.errors import AppError


class Service(BaseModel):
    """One VLM at one service."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    base_url: str
    """Up to the version, as ``http://localhost:8000/v1``."""
    model: str = Field(min_length=1)
    """The VLM's id at the service."""
    key_variable: str = Field(default="", pattern=r"^([A-Z_][A-Z0-9_]*)?$")
    """Environment variable of the key, in capital letters; empty where the service wants none."""
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What the service calls the token limit; VLMs that reason want the second."""
    sends_temperature: bool = True
    """Whether temperature 0 is asked for. Some services refuse it; they then decode as they please."""
    streams: bool = True
    """Whether the service can send an answer piece by piece."""
    concurrency: int = Field(default=4, ge=1, le=64)
    """Calls at the same time."""
    timeout_seconds: float = Field(default=120.0, gt=0)
    """Longest silence before a call counts as failed."""
    plain_http: bool = False
    """Allows ``http://`` to a host outside: key and images then travel unencrypted."""

    @property
    def host(self) -> str:
        """For messages; no path, and no port where it is the usual one."""
        parts = urlsplit(self.base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    def check_address(self) -> None:
        """Refuse an address that is none, or that would let key and images be read on the way.

        ``https://`` goes anywhere. ``http://`` goes to this machine and to private addresses
        (127.0.0.0/8, 10.0.0.0/8, 192.168.0.0/16 and the like, ``localhost``) only, or where
        the entry allows it: a name is not looked up, since who answers for it can change.

        Raises:
            AppError: It says which of these.
        """
        try:
            parts = urlsplit(self.base_url)
            _ = parts.port
        except ValueError:
            raise AppError("base_url is not an address.", "Write it as https://host/v1.") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise AppError("base_url is not an http or https address.", "Write it as https://host/v1.")
        if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
            raise AppError(
                "base_url carries a name, a password, a query or a fragment.",
                "Keys stand in an environment variable: name it in key_variable.",
            )
        if parts.scheme == "http" and not self.plain_http and not _is_near(parts.hostname):
            raise AppError(
                f"http:// to {parts.hostname} would send key and images unencrypted.",
                "Use https://, or set plain_http: true where that network is yours.",
            )


def key_of(service: Service) -> str:
    """Return the service's key from the environment; empty where it wants none.

    Raises:
        AppError: The variable is not set, or holds what cannot be a key.
    """
    if not service.key_variable:
        return ""
    key = os.environ.get(service.key_variable, "").strip()
    if not key:
        raise AppError(
            f"There is no key in the environment variable {service.key_variable}.",
            f"Set {service.key_variable} and start again.",
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise AppError(
            f"What the environment variable {service.key_variable} holds cannot be a key.",
            "A key is one word of plain letters, digits and signs: set it again.",
        )
    return key


def _is_near(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False
