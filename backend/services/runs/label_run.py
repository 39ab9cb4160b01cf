"""Task labels by a VLM as one annotator: each question once, its words alone, into a run folder and a label file.

The file is one annotator's, as ``import verimap --labels`` takes it; the store holds labels, and no run of them.
"""

__all__ = ["LABELS", "Labelled", "Labelling", "plan_labels", "write_labels"]

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from backend.domain.records import Stage, System
from backend.errors import AppError
from backend.services.runs.direct_answers import folder_answers
from backend.services.runs.plan import Plan, VlmIdentity, item_id, read_plan, templates_sha256
from backend.store.store import Store
from backend.verimap.label_prompt import LABEL_DECODING, LABEL_VERSION, TEMPLATES, label_prompt, read_label

LABELS = "labels.csv"
"""Name of the label file inside the run folder."""


class Labelling(NamedTuple):
    """What an annotator is asked."""

    plan: Plan
    source_ids: Mapping[str, str]
    """Of the questions in their data set, by probe id."""


class Labelled(NamedTuple):
    """What became of it."""

    n_labelled: int
    n_unread: int
    """Replies that name no task, or several: no valid label, which takes no part in a vote."""
    n_failed: int
    """Calls that failed, and questions that were not asked yet: they stand in no row."""


def plan_labels(store: Store, suite: str, annotator: VlmIdentity, *, limit: int | None = None) -> Labelling:
    """Plan one annotator's labels of a data set's questions, options below them where there are any.

    Args:
        store: Holds the data set.
        suite: Its name.
        annotator: The VLM; it is shown no image.
        limit: Only so many questions, from the first.

    Raises:
        AppError: The suite is unknown or empty, or no data set of VeriMap.
    """
    asked = read_plan(store, suite, annotator, LABEL_DECODING, limit=limit)
    if asked.key.system != System.VERIMAP:
        raise AppError(
            f"Suite {suite} is of {asked.key.system}; tasks are those of VeriMap's questions.",
            "Name a data set that import verimap brought in.",
        )
    key = replace(asked.key, stage=Stage.LABEL, setting="", prompt_version=LABEL_VERSION)
    items = []
    for item in asked.items:
        prompt = label_prompt(item.question)
        new = item_id(key, annotator, item.probe_id, prompt, "", None)
        textual = replace(item, image_id="", image_name="", image=None, image_sha256=None)
        items.append(replace(textual, item_id=new, prompt=prompt, not_asked=""))
    plan = Plan(key, annotator, LABEL_DECODING, templates_sha256(TEMPLATES), tuple(items))
    return Labelling(plan, dict(store.rows("SELECT probe_id, source_id FROM probes WHERE suite = ?", [suite])))


def write_labels(folder: Path, labelling: Labelling) -> Labelled:
    """Write the label file of a run folder, as far as its replies go.

    Raises:
        AppError: The folder is none, or damaged, or cannot be written.
    """
    said = folder_answers(folder, labelling.plan)
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(("id", "task"))
    labels = [(probe_id, read_label(one.answer)) for probe_id, one in said.items() if not one.error]
    rows.writerows((labelling.source_ids[probe_id], task or "") for probe_id, task in labels)
    path = folder / LABELS
    try:
        path.write_text(text.getvalue(), "utf-8", newline="")
    except OSError as error:
        raise AppError(f"{path} cannot be written ({error.strerror}).", "Check the folder's permissions.") from error
    n_unread = sum(task is None for _, task in labels)
    return Labelled(len(labels) - n_unread, n_unread, len(labelling.plan.items) - len(labels))
