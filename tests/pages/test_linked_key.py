"""Promises of controls that live in the link: what the link says by itself makes a new control of an old one."""

from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from pages.ui.linked_key import linked_key

    def write() -> None:
        st.query_params["text"] = st.session_state[key].strip()

    key = linked_key("words", st.query_params.get("text", ""))
    st.text_input("Words", key=key, on_change=write)
    st.button("Clear", on_click=st.query_params.clear)


def test_a_control_stays_itself_while_it_is_used_and_is_a_new_one_once_the_link_says_something_else() -> None:
    """A browser keeps what an old control said, and would say it again."""
    app = AppTest.from_function(page).run()
    assert (app.text_input[0].key, app.text_input[0].value) == ("words", "")
    app.text_input[0].input("polyp").run()
    assert (app.text_input[0].key, app.text_input[0].value) == ("words", "polyp")
    app.button[0].click().run()
    assert (app.text_input[0].key, app.text_input[0].value) == ("words_1", "")
    app.text_input[0].input("snare").run()
    assert (app.text_input[0].key, app.text_input[0].value) == ("words_1", "snare")
    app.query_params["text"] = "clip"
    app.run()
    assert (app.text_input[0].key, app.text_input[0].value) == ("words_2", "clip")
    app.text_input[0].input(" clip ").run()
    assert (app.text_input[0].key, app.text_input[0].value) == ("words_3", "clip")
