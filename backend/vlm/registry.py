"""The VLMs Parallax knows of, by name, and the one place that opens them.

The shipped list (``data/models.yaml``) holds the VLMs of the three papers, the VLM in the box
and the blind baseline. A file named by the setting PARALLAX_MODELS adds to it; an entry of a
name that ships stands in its place. Faults in a file are kept beside the list and shown, and
never stop the app.
"""

__all__ = ["Registry"]

from dataclasses import dataclass
from pathlib import Path

from backend.domain.vlm import Vlm
from backend.errors import AppError, BadLine
from backend.settings import DATA, setting
from backend.vlm.entries import VlmEntry, read_entries

SHIPPED = DATA / "models.yaml"


@dataclass(frozen=True, slots=True)
class Registry:
    """All known VLMs; make one with `load`."""

    entries: tuple[VlmEntry, ...]
    """The shipped ones in their order, then the user's."""
    problems: tuple[BadLine, ...]
    """Entries that were left out, with file, line and field."""

    @classmethod
    def load(cls) -> "Registry":
        """Read both lists anew."""
        shipped = read_entries(SHIPPED)
        entries = {entry.name: entry for entry in shipped.entries}
        problems = list(shipped.problems)
        if own := setting("PARALLAX_MODELS"):
            users = read_entries(Path(own).expanduser())
            entries |= {entry.name: entry for entry in users.entries}
            problems += users.problems
        return cls(tuple(entries.values()), tuple(problems))

    def find(self, name: str) -> VlmEntry:
        """Return the VLM of a name, in any case; a VLM's own name goes before others' second names.

        Raises:
            AppError: There is none; it lists those there are.
        """
        wanted = name.casefold()
        for names in ([(entry.name,) for entry in self.entries], [entry.also for entry in self.entries]):
            for entry, given in zip(self.entries, names, strict=True):
                if wanted in map(str.casefold, given):
                    return entry
        known = ", ".join(entry.name for entry in self.entries)
        left_out = f" Left out for faults in the list: {len(self.problems)}." if self.problems else ""
        raise AppError(f"There is no VLM {name}.", f"Known: {known}.{left_out}")

    def open_vlm(self, name: str, *, in_worker: bool = True) -> Vlm:
        """Return a VLM that can be asked.

        Args:
            name: As `find` takes it.
            in_worker: Whether one that runs here gets a warm process of its own, as in the app.
                Otherwise it is loaded into this process, at once.

        Raises:
            AppError: It is not known, cannot be asked from here, lacks its key, or (in this
                process) cannot be loaded.
        """
        entry = self.find(name)
        if entry.openai:
            from backend.vlm.openai_compatible import OpenAiCompatible

            return OpenAiCompatible(entry.name, entry.openai)
        if entry.spec is None or not entry.answers.works:
            raise AppError(
                f"{entry.name} cannot be asked from here: {entry.answers.why_not}.",
                f"Those that can: {', '.join(one.name for one in self.entries if one.answers.works)}.",
            )
        if in_worker:
            from backend.vlm.worker import WorkerVlm

            return WorkerVlm(entry.spec)
        from backend.vlm.transformers_local import load_vlm

        return load_vlm(entry.spec)
