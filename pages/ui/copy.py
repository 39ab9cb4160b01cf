"""A button that puts a text on the clipboard without showing it.

It answers in its own label ("Copied"), without a rerun.
"""

__all__ = ["copy_button"]

import streamlit as st

HTML = """
<button type="button"></button>
"""

CSS = """
button {
  font: inherit; font-size: 0.875rem; line-height: 1.4; padding: 0.3rem 0.75rem; cursor: pointer;
  color: var(--st-text-color); background: transparent;
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius);
}
button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
"""

JS = """
function copyByHand(text) {
  const area = document.createElement("textarea")
  area.value = text
  document.body.append(area)
  area.select()
  const done = document.execCommand("copy")
  area.remove()
  return done ? Promise.resolve() : Promise.reject(new Error("the browser refused"))
}

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button")
  button.textContent = data.label
  button.onclick = async () => {
    const text = data.text ?? window.location.href
    try {
      await (navigator.clipboard ? navigator.clipboard.writeText(text) : copyByHand(text))
      button.textContent = "Copied"
    } catch {
      button.textContent = "The browser did not allow copying"
    }
    setTimeout(() => { button.textContent = data.label }, 2000)
  }
}
"""

mount = st.components.v2.component("parallax_copy", html=HTML, css=CSS, js=JS)


def copy_button(label: str, text: str | None = None, *, key: str) -> None:
    """Draw a button that copies.

    Args:
        label: What it says.
        text: What it copies; None copies the address of the page as it stands.
        key: Unique on the page.
    """
    mount(key=key, data={"label": label, "text": text}, width="content")
