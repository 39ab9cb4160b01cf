"""What data is loaded, and where does it come from?"""

import streamlit as st

from backend.services.ingest.tasks import rescore_task
from backend.services.store_contents import outdated_runs, totals
from pages.ui.import_forms import blind_form, endoca_form, images_form, kvasir_form
from pages.ui.import_report import plural
from pages.ui.job_view import show_job, start_job
from pages.ui.resources import the_store
from pages.ui.store_tables import answers_held, show_import_log, show_printed, show_runs, show_suites
from pages.ui.surgcheck_form import surgcheck_form
from pages.ui.verimap_form import verimap_form

FORMS = {
    "EndoCA files": endoca_form,
    "SurgCheck files": surgcheck_form,
    "VeriMap files": verimap_form,
    "Kvasir-VQA suites": kvasir_form,
    "Images": images_form,
    "Blind baseline": blind_form,
}

WHERE_TO_GET_DATA = """
The store is empty. A manifest makes a start; the data are public and not shipped with Parallax:

- EndoCA manifests: `data/manifests/` of [github.com/Luious-LYH/EndoCA-VQA](https://github.com/Luious-LYH/EndoCA-VQA)
- Kvasir-VQA-x1: [github.com/simula/Kvasir-VQA-x1](https://github.com/simula/Kvasir-VQA-x1), data set
  SimulaMet/Kvasir-VQA-x1
- Kvasir-VQA, with the images: data set SimulaMet/Kvasir-VQA
- SurgCheck, questions: [github.com/ailab-kyunghee/SurgCheck](https://github.com/ailab-kyunghee/SurgCheck); frames:
  [github.com/CAMMA-public/Endoscapes](https://github.com/CAMMA-public/Endoscapes)

Then import questions below, and after them what VLMs answered. Of EndoCA these are the manifest's lines with
`model_id` and `prediction`, of SurgCheck two files, one for each question of a pair.
"""

LICENCES = """
| data | licence | cite |
|---|---|---|
| Kvasir-VQA | CC BY-NC 4.0 | Gautam et al. 2024 |
| Kvasir-VQA-x1 | CC BY-NC 4.0 | Gautam, Riegler, Halvorsen 2025 |
| EndoCA manifests | CC BY-NC 4.0, made from the two above | Liu, Zhao, Yue 2026 |
| images of HyperKvasir, Kvasir | each its own | Borgli et al. 2020; Pogorelov et al. 2017 |
| SurgCheck | non-commercial research | the paper SurgCheck |
| Endoscapes, its frames and scene graphs | CC BY-NC-SA 4.0 | Murali et al. 2023 |
| VQA-RAD | CC0 1.0 | Lau et al. 2018 |
| SLAKE | CC BY 4.0 | Liu et al. 2021 |
| PathVQA | MIT; its images stay with their publishers | He et al. 2020 |
| PMC-VQA | as its data set card says | Zhang et al. 2023 |
| MedXpertQA | MIT | Zuo et al. 2025 |

With attribution; non-commercial use where the licence says so. Parallax ships none of it, and takes nothing out of
this computer.
"""

store = the_store()
held = totals(store)

st.title("What data is loaded, and where does it come from?")
if held.suites:
    st.markdown(
        f"{plural(held.suites, 'suite')} with {plural(held.units, 'unit')} on {plural(held.images, 'image')} "
        f"({held.images_at_hand:,} with a file), and {answers_held(held)} "
        f"in {plural(held.runs, 'run')} of {plural(held.vlms, 'VLM')}."
    )
else:
    st.markdown(WHERE_TO_GET_DATA)

show_job(store)

old = outdated_runs(store)
if old:
    with st.container(border=True, key="outdated"):
        st.markdown(
            f"{plural(len(old), 'run')} {'was' if len(old) == 1 else 'were'} scored by another version of the scorer. "
            "The older scores are kept when they are scored with the present one."
        )
        if st.button("Score them with the present scorer", key="rescore"):
            start_job(store, rescore_task(store))

st.subheader("Bring data in")
for tab, form in zip(
    st.tabs(list(FORMS), key="bring", on_change="rerun", bind="query-params"), FORMS.values(), strict=True
):
    if tab.open:
        with tab:
            form(store)

if held.suites:
    st.subheader("Suites")
    show_suites(store)
if held.runs:
    st.subheader("Runs")
    show_runs(store)
st.subheader("Printed results")
show_printed(store)
st.subheader("Imports")
show_import_log(store)
st.subheader("Licences")
st.markdown(LICENCES)
