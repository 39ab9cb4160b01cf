"""Landing at the place a link names, on a page that grows above that place while it is drawn.

Streamlit scrolls to a heading once in the life of the browser's document, and at the moment
the heading appears: plots that are drawn above it afterwards push it out of sight. Here the
place stays in sight however late the rest of the page comes, until the person moves; from
then on nothing scrolls but the person.
"""

__all__ = ["land_at"]

import streamlit as st

JS = """
const MOVES = new Set([" ", "ArrowDown", "ArrowUp", "End", "Home", "PageDown", "PageUp", "Tab"])
const holds = new WeakMap()
const left = new WeakSet()

export default function ({ data, parentElement }) {
  holds.get(parentElement)?.abort()
  const place = window.location.hash.slice(1)
  if (left.has(parentElement) || !data.places.includes(place)) return

  const hold = new AbortController()
  holds.set(parentElement, hold)
  parentElement.querySelector("i").dataset.holds = place
  const heading = () => document.getElementById(place)
  const sizes = new ResizeObserver(() => heading()?.scrollIntoView())
  sizes.observe(parentElement.host.closest("[data-testid=stMainBlockContainer]"))
  hold.signal.addEventListener("abort", () => sizes.disconnect())

  function leave(event) {
    if (event.type === "keydown" && !MOVES.has(event.key)) return
    left.add(parentElement)
    hold.abort()
    // Else Streamlit would still jump to the heading when it draws it.
    if (!heading()) history.replaceState(history.state, "", window.location.pathname + window.location.search)
  }
  for (const type of ["wheel", "touchmove", "pointerdown", "keydown"])
    window.addEventListener(type, leave, { capture: true, passive: true, signal: hold.signal })
  return () => hold.abort()
}
"""

mount = st.components.v2.component("parallax_landing", html="<i></i>", js=JS)


def land_at(*places: str) -> None:
    """Keep a heading in sight from the page's arrival on, where the link names it.

    Scrolling, pressing and the keys that scroll or move the focus let go of it, from when the
    browser runs this component, which is moments after it draws the page's title. Whoever moves
    before the heading is drawn has gone elsewhere, so the address then drops the place.

    Args:
        places: The anchors of headings that a link can name, the same at each run of the page. Call this
            once a page, before the headings are drawn.
    """
    mount(key=f"landing_{places[0]}", data={"places": list(places)}, height=1)
