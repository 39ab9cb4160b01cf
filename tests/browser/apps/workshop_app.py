"""A test-only server: the app, whose local VLMs are fakes that take orders (tests/services/pair_fakes.py)."""

import streamlit as st

from backend.vlm.worker import WORKERS
from pages.ui.errors import show_error
from pages.ui.image_routes import IMAGE_ROUTES
from pages.ui.security import MIDDLEWARE
from tests.services.pair_fakes import FACTORY

WORKERS._factory = FACTORY
WORKERS._imports = ()

app = st.App("../../../pages/ui/main.py", routes=IMAGE_ROUTES, middleware=MIDDLEWARE, on_script_error=show_error)
