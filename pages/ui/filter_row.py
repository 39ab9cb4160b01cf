"""A row of filters, whatever is filtered: the choice lives in the link, is said as a sentence, is copied or cleared.

The link is the one place of truth. Each control is set from it and writes its own part back, so
Back and Forward of the browser move through the choices.
"""

__all__ = ["FILTER_WIDTH", "FilterRow", "SuiteFilterRow"]

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from html import escape
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import streamlit as st

from backend.errors import AppError
from backend.store.filters import UnitFilter
from backend.store.pair_filters import PairFilter
from backend.store.verification_filters import VerificationFilter
from pages.ui.copy import copy_button
from pages.ui.errors import show_error
from pages.ui.linked_key import linked_key
from pages.ui.links import write_link
from pages.ui.suite_names import suite_words

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

Chosen = TypeVar("Chosen", UnitFilter, PairFilter, VerificationFilter)
ChosenOfSuite = TypeVar("ChosenOfSuite", UnitFilter, PairFilter)

FILTER_WIDTH = 360
"""Of a control that a button opens, in pixels."""


@dataclass(frozen=True, slots=True)
class FilterRow(Generic[Chosen]):
    """The controls of one kind of filter."""

    kind: type[Chosen]
    prefix: str
    """Of the controls' keys."""

    def asked(self) -> Chosen:
        """Return the filter the page's link asks for.

        Raises:
            AppError: The link asks for something that cannot be meant.
        """
        return self.kind.from_query(st.query_params.to_dict())

    def asked_or_stop(self) -> Chosen:
        """Return what `asked` returns; where it refuses the link, say why and how to go on, and end the page."""
        return self._or_stop(self.asked)

    def write(self, chosen: Chosen, without: Collection[str] = ()) -> None:
        """Write a filter into the link, in one step of the browser's history.

        Args:
            chosen: The filter.
            without: Further parameters of the link, which are taken away; all others stay.
        """
        write_link({*(field.name for field in fields(self.kind)), *without}, chosen.to_query())

    def control(self, field: str, value: object, emptied: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Set a control from the link, and return what makes it write its field back.

        Args:
            field: Of the filter.
            value: As the link has it.
            emptied: What other fields become when the control is emptied.

        Returns:
            Arguments for the control.
        """
        key = linked_key(f"{self.prefix}_{field}", value)
        return {"key": key, "on_change": self._write_field, "args": (field, key, emptied or {})}

    def chip(
        self,
        chosen: Chosen,
        field: str,
        label: str,
        options: Sequence[Any],
        words: Callable[[Any], str] = str,
        *,
        is_set: bool | None = None,
        placeholder: str = "All",
        emptied: Mapping[str, Any] | None = None,
    ) -> "DeltaGenerator":
        """Draw a field of several values: a button that says how much is chosen, and opens the choice.

        Args:
            chosen: The filter as the link has it.
            field: Of the filter.
            label: Of the button.
            options: What there is to choose from; a value that the link names joins them.
            words: What to call an option.
            is_set: Whether the choice is not the page's usual one; None asks whether there is one.
            placeholder: What choosing nothing means.
            emptied: What other fields become when the choice is emptied.

        Returns:
            What the button opens, for further controls.
        """
        values: list[Any] = list(getattr(chosen, field))
        opened = st.popover(
            f"{label}: {len(values)}" if len(values) > 1 else label,
            type="primary" if (bool(values) if is_set is None else is_set) else "secondary",
        )
        opened.multiselect(
            label,
            list(dict.fromkeys([*options, *values])),
            format_func=words,
            placeholder=placeholder,
            width=FILTER_WIDTH,
            **self.control(field, values, emptied),
        )
        return opened

    def words_chip(self, text: str, label: str, example: str) -> None:
        """Draw the button that opens a search for words.

        Args:
            text: As the link has it.
            label: Where the words are looked for.
            example: A word.
        """
        st.popover("Words", type="primary" if text else "secondary").text_input(
            label, placeholder=f"for example: {example}", width=FILTER_WIDTH, **self.control("text", text)
        )

    def show_sentence(
        self, told: str, count: str, tags: str = "", *, cleared: Chosen | None, without: Collection[str] = ()
    ) -> None:
        """Draw what is chosen as a sentence, with the link to copy and the way back to everything.

        Args:
            told: The filter in words.
            count: How much it is, such as "412 units".
            tags: What stands behind it, as HTML.
            cleared: What the way back leads to; None where nothing is to be cleared.
            without: Further parameters of the link that the way back takes away.
        """
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.html(
                f"<div><span style='opacity:.75'>{escape(told)}:</span> <b>{escape(count)}</b> {tags}</div>",
                width="stretch",
            )
            copy_button("Copy link", key=f"{self.prefix}_link")
            if cleared is not None:
                key = f"{self.prefix}_clear"
                st.button("Clear", key=key, type="tertiary", on_click=self.write, args=(cleared, without))

    def _or_stop(self, read: Callable[[], Chosen]) -> Chosen:
        try:
            return read()
        except AppError as error:
            show_error(error)
            st.button("Show everything", on_click=self.write, args=(self.kind(),))
            st.stop()

    def _write_field(self, field: str, key: str, emptied: Mapping[str, Any]) -> None:
        value = st.session_state[key]
        changed: dict[str, Any] = {field: tuple(value) if isinstance(value, list) else value}
        self.write(replace(self.asked(), **changed, **({} if value else emptied)))


@dataclass(frozen=True, slots=True)
class SuiteFilterRow(FilterRow[ChosenOfSuite]):
    """The controls of a kind of filter on a page that always shows one suite."""

    what: str
    """What to call a suite where there is no such one."""

    def of_suite_or_stop(self, suites: Sequence[str]) -> ChosenOfSuite:
        """Return what `asked_or_stop` returns, always of one suite: the first where the link names none.

        Args:
            suites: The store's, at least one. A link that names another is refused.
        """
        return self._or_stop(lambda: self._of_suite(suites))

    def _of_suite(self, suites: Sequence[str]) -> ChosenOfSuite:
        chosen = self.asked()
        if chosen.suite and chosen.suite not in suites:
            raise AppError(f"There is no {self.what} {chosen.suite!r} in this store.", f"Known: {', '.join(suites)}.")
        return replace(chosen, suite=chosen.suite or suites[0])

    def choose_suite(self, suite: str, suites: Sequence[str], *, width: int, of: str) -> None:
        """Draw the choice of a suite; another one clears all else.

        Args:
            suite: As the link has it.
            suites: Suites to choose from.
            width: In pixels.
            of: What a suite holds, in the plural.
        """
        key = f"{self.prefix}_suite"
        st.session_state[key] = suite
        st.selectbox(
            "Suite",
            list(suites),
            key=key,
            format_func=suite_words,
            on_change=lambda: self.write(self.kind(suite=st.session_state[key])),
            label_visibility="collapsed",
            width=width,
            help=f"{of} and runs of one suite",
        )
