-- Atomic-Support Reconciliation: decisions of Select, what a run was made from, live traces.

-- One row a unit of a Select run (stages select and self_select).
CREATE TABLE decisions (
    run_id TEXT NOT NULL,
    unit_id TEXT NOT NULL,
    decision TEXT NOT NULL,           -- answer or abstain; abstain where the object could not be read
    consistency TEXT,                 -- consistent, partly consistent, inconsistent; NULL: could not be read
    echoed TEXT NOT NULL,             -- the answer as the object repeats it; shown, never returned
    problem TEXT NOT NULL,            -- why it could not be read, or why the call failed; '' otherwise
    reply TEXT NOT NULL               -- verbatim
);

-- A Revise or Select run holds its own complex answers and, unchanged, the atomic answers of the
-- direct run it was made from, so that joint accuracy pairs the two.
CREATE TABLE run_bases (
    run_id TEXT NOT NULL,
    base_run_id TEXT NOT NULL         -- the direct run
);

-- One row a reconciliation that somebody watched. Live answers belong to no run over a suite.
CREATE TABLE traces (
    trace_id TEXT NOT NULL,
    unit_id TEXT NOT NULL,            -- a stored unit, or one of the suite "live" made for it
    vlm TEXT NOT NULL,
    vlm_group TEXT,
    variant TEXT NOT NULL,            -- asr or self
    prompt_version TEXT NOT NULL,
    origin TEXT NOT NULL,             -- live
    record TEXT NOT NULL,             -- JSON: every step with prompt, reply, time; who answered on what
    created_at TIMESTAMP NOT NULL DEFAULT current_timestamp
);
