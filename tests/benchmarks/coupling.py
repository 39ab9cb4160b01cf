"""How long the mixed models of coupling take, and how far they are from lme4's.

    python -m tests.benchmarks.coupling [--rounds 5] [--counts counts.csv]

Linear models are fitted to the 210 printed cells, logistic ones to counts of 420 groups drawn from the paper's
printed parameters, or to a table given. Where R with lme4 and lmerTest is installed the same data are fitted there:
lme4 twice, as it comes and with its inner search to the end (``tolPwrss = 1e-11``). Where statsmodels
is installed its linear fit is timed as well.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from backend.verimap.cell_rates import METRICS, cell_metrics
from backend.verimap.coupling import fit_cells, fit_counts
from backend.verimap.coupling_tables import COUNT_COLUMNS
from backend.verimap.undefined_rates import Undefined
from tests.conftest import ROOT
from tests.verimap.simulated_counts import Truth, drawn_counts

CELLS = ROOT / "data" / "published" / "verimap_cells.csv"
PRINTED = Truth(-2.125, 4.05, [(0.316**0.5, 0.485**0.5), (1.582**0.5, 4.876**0.5), (0.048**0.5, 0.128**0.5)], -0.95)

IN_R = """
suppressMessages({library(lme4); library(lmerTest)})
where <- commandArgs(trailingOnly = TRUE)[1]
d <- read.csv(file.path(where, "counts.csv"), stringsAsFactors = TRUE)
left_out <- sum(lchoose(d$n, d$ver_err))
formulas <- list(M0 = y ~ 1 + (1 | task) + (1 | model) + (1 | dataset),
                 M1 = y ~ gen_err + (1 | task) + (1 | model) + (1 | dataset),
                 M2 = y ~ gen_err + (1 + gen_err | task) + (1 + gen_err | model) + (1 + gen_err | dataset))
d$y <- d$ver_err / d$n
line <- function(...) cat(paste(..., sep = "\\t"), "\\n", sep = "")
for (name in names(formulas)) for (tol in c(1e-7, 1e-11)) {
  took <- system.time(m <- suppressMessages(suppressWarnings(glmer(formulas[[name]], data = d, weights = n,
    family = binomial, control = glmerControl(optimizer = "bobyqa", tolPwrss = tol)))))[3]
  last <- length(fixef(m))
  line("glmm", name, tol, took, sprintf("%.8f", as.numeric(logLik(m)) - left_out), sprintf("%.8f", fixef(m)[last]),
       sprintf("%.8f", sqrt(vcov(m)[last, last])))
}
cells <- read.csv(file.path(where, "cells.csv"), stringsAsFactors = TRUE)
for (name in c("fnr", "fpr", "bias", "dskew", "fpr_minus_fnr")) {
  cells$y <- cells[[name]]
  took <- system.time({m <- suppressMessages(lmer(y ~ p_g + (1 | task) + (1 | model) + (1 | dataset), data = cells))
                       s <- coef(summary(m))})[3]
  line("lmm", name, 0, took, sprintf("%.10f", as.numeric(logLik(m))), sprintf("%.10f", s[2, 1]),
       sprintf("%.10f", s[2, 2]))
}
"""


def timed(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Return the median of some runs in seconds, and the last result."""
    times, result = [], None
    for _ in range(rounds):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return statistics.median(times), result


def fitted_in_r(cells: pd.DataFrame, counts: pd.DataFrame) -> list[list[str]]:
    """Return R's lines; none where R or a package is absent."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        return []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cells.to_csv(folder / "cells.csv", index=False)
        counts.to_csv(folder / "counts.csv", index=False)
        (folder / "fit.R").write_text(IN_R, "utf-8")
        ended = subprocess.run([rscript, folder / "fit.R", name], capture_output=True, text=True, check=False)
    return [line.split("\t") for line in ended.stdout.splitlines() if line.startswith(("glmm", "lmm"))]


def statsmodels_seconds(cells: pd.DataFrame, rounds: int) -> float | None:
    """Return how long statsmodels takes for one linear model; None where it is not installed."""
    if find_spec("statsmodels") is None:
        return None
    from statsmodels.regression.mixed_linear_model import MixedLM  # type: ignore[import-not-found,unused-ignore]

    parts = {factor: f"0 + C({factor})" for factor in ("task", "model", "dataset")}
    data = cells.assign(whole=1)
    model = MixedLM.from_formula("bias ~ p_g", groups="whole", re_formula="0", vc_formula=parts, data=data)
    return timed(lambda: model.fit(reml=True), rounds)[0]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--counts", type=Path, default=None)
    options = parser.parse_args()
    cells = pd.read_csv(CELLS)
    counts = pd.read_csv(options.counts) if options.counts else drawn_counts(PRINTED, (7, 6, 5), 80, seed=1)
    counts = counts[list(COUNT_COLUMNS)]

    ours: dict[tuple[str, str], tuple[float, float, float]] = {}
    seconds, fits = timed(lambda: fit_cells(cells, Undefined.AS_PRINTED), options.rounds)
    print(f"{len(METRICS)} linear models of {len(cells)} cells: {1000 * seconds:.0f} ms")
    for metric, of_metric in fits.items():
        assert of_metric.fit.estimates is not None
        found = of_metric.fit.estimates
        ours["lmm", metric] = (found.reml_loglik, found.slope.value, found.slope.se)
    seconds, coupling = timed(lambda: fit_counts(counts), options.rounds)
    print(f"M0, M1 and M2 of {len(counts)} rows: {seconds:.2f} s")
    for name, model in coupling.models.items():
        assert model.fit.estimates is not None, model.fit.problem
        effect = model.fit.estimates.fixed[-1]
        ours["glmm", name] = (model.fit.estimates.loglik, effect.value, effect.se)

    theirs = fitted_in_r(cell_metrics(cells, Undefined.AS_PRINTED), counts)
    print("ours against lme4: log-likelihood, last fixed effect, its standard error (share)" if theirs else "no lme4")
    for kind, name, tolerance, took, *numbers in theirs:
        loglik, value, se = (float(number) for number in numbers)
        mine = ours[kind, name]
        inner = f" tolPwrss {tolerance}" if kind == "glmm" else ""
        print(
            f"  {kind} {name}{inner}: {mine[0] - loglik:+.1e}, {mine[1] - value:+.1e}, {mine[2] / se - 1:+.1e}; "
            f"lme4 took {float(took):.2f} s"
        )
    other = statsmodels_seconds(cell_metrics(cells, Undefined.AS_PRINTED), options.rounds)
    print("no statsmodels" if other is None else f"statsmodels, one linear model: {1000 * other:.0f} ms")
    print(json.dumps({"rows": len(counts), "seconds": round(seconds, 3)}))


if __name__ == "__main__":
    main()
