"""Previous, position and next of a list, by button or key, and the way back to the list.

The browser counts the presses and asks for a position, so none is lost however quickly they
come: the server draws the last position asked for, and names the request it has heard. Until
it names the last one, the position is drawn as asked for.
"""

__all__ = ["case_steps"]

from collections.abc import Callable

import streamlit as st

from pages.ui.links import GO

HTML = """
<button type="button" data-step="-1">Previous <kbd>K</kbd></button>
<span role="status"></span>
<button type="button" data-step="1">Next <kbd>J</kbd></button>
<a>Back to the list <kbd>Esc</kbd></a>
"""

CSS = """
button, span, a { font: inherit; font-size: 0.875rem; line-height: 1.4; }
button {
  padding: 0.3rem 0.75rem; cursor: pointer; color: var(--st-text-color); background: transparent;
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius);
}
button:disabled { cursor: default; opacity: 0.45; }
button:hover:enabled { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible, a:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
span { margin: 0 0.6rem; white-space: nowrap; font-variant-numeric: tabular-nums; }
span.asked { opacity: 0.6; }
a { margin-left: 0.9rem; color: var(--st-text-color); text-decoration: none; white-space: nowrap; }
a:hover { color: var(--st-primary-color); }
kbd { font: inherit; font-size: 0.75rem; margin-left: 0.3rem; opacity: 0.7; }
"""

JS = f"""
const number = new Intl.NumberFormat("en-US")
const states = new WeakMap()

function go(address) {{
  {GO}
}}

function typing(event) {{
  const target = event.composedPath()[0]
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName)
}}

export default function ({{ data, parentElement, setStateValue }}) {{
  let state = states.get(parentElement)
  if (!state) states.set(parentElement, (state = {{ target: null, asked: 0, onKey: null }}))
  if (data.heard === state.asked) state.target = null

  const [back, forth] = parentElement.querySelectorAll("button")
  const here = () => state.target ?? data.position

  function draw() {{
    const place = here()
    const total = number.format(data.total)
    parentElement.querySelector("span").textContent =
      place ? `${{number.format(place)}} of ${{total}}` : `not in this list of ${{total}}`
    parentElement.querySelector("span").classList.toggle("asked", state.target !== null)
    back.disabled = !place || place <= 1
    forth.disabled = !place || place >= data.total
  }}

  function step(by) {{
    const place = here()
    if (!place || place + by < 1 || place + by > data.total) return
    state.target = place + by
    state.asked = Math.max(Date.now(), state.asked + 1)
    draw()
    setStateValue("asked", {{ position: state.target, at: state.asked }})
  }}

  for (const button of [back, forth]) button.onclick = () => step(Number(button.dataset.step))
  const link = parentElement.querySelector("a")
  link.href = new URL(data.list, window.location.href)
  link.onclick = (event) => {{
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    go(data.list)
  }}

  function onKey(event) {{
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing(event)) return
    const key = event.key.toLowerCase()
    if (key === "j") step(1)
    else if (key === "k") step(-1)
    else if (key === "escape") go(data.list)
  }}
  window.removeEventListener("keydown", state.onKey)
  state.onKey = onKey
  window.addEventListener("keydown", onKey)
  draw()
  return () => window.removeEventListener("keydown", onKey)
}}
"""

mount = st.components.v2.component("parallax_steps", html=HTML, css=CSS, js=JS)


def case_steps(position: int | None, total: int, back_to: str, go_to: Callable[[int], None]) -> None:
    """Draw the steps.

    Args:
        position: The place in the list of the case shown, from 1; None where it is not among them.
        total: The list's length.
        back_to: Address of the list.
        go_to: Called with the position a person asks for, before the page is drawn anew.
    """
    key = "case_steps"

    def asked() -> None:
        wanted = st.session_state[key].get("asked")
        if wanted and 1 <= int(wanted["position"]) <= total:
            go_to(int(wanted["position"]))

    last = st.session_state.get(key, {}).get("asked")
    mount(
        key=key,
        data={"position": position, "total": total, "list": back_to, "heard": last and last["at"]},
        on_asked_change=asked,
        width="content",
    )
