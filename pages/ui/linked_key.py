"""The key of a control that shows a value of the page's link, so that what the link says is what the control says."""

__all__ = ["linked_key"]

import streamlit as st


def linked_key(name: str, value: object) -> str:
    """Set a control from the link and return its key.

    What a closed button holds is not in the page, so the browser never hears that the link came to say something
    else, by Clear, by Back or by another control, and sends the old value again with the next change. The control
    therefore gets another key then, which makes it a new one.

    Args:
        name: Of the control; its first key.
        value: As the link has it.
    """
    counted = f"{name}_renewed"
    n = st.session_state.get(counted, 0)
    if st.session_state.get(_key(name, n), value) != value:
        n += 1
        st.session_state[counted] = n
    st.session_state[_key(name, n)] = value
    return _key(name, n)


def _key(name: str, n: int) -> str:
    return f"{name}_{n}" if n else name
