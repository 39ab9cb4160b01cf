-- Saliency: what a VLM attended to, and what it depended on, when it gave an answer.

-- One row an answer of a run that was looked into. The answer may have been replaced since: a look at another is none.
CREATE TABLE saliency (
    run_id TEXT NOT NULL,             -- the run that gave the answer: a generator's, a verifier's, any other
    probe_id TEXT NOT NULL,
    answer TEXT NOT NULL,             -- of the run when it was looked into, verbatim
    n_tokens INTEGER,                 -- of what was looked into, thinking left aside; NULL here and below: see error
    fraction DOUBLE,                  -- image saliency fraction, 0 to 1
    uniform_fraction DOUBLE,          -- what it would be, were attention even
    gradient_mean DOUBLE,             -- mean gradient activation; NULL: this VLM gives none, and the record says why
    record TEXT,                      -- JSON: backend.vlm.saliency.kept.KeptSaliency, maps as float16 grids
    error TEXT NOT NULL               -- why there is none; '' otherwise
);

-- One row a run whose answers were looked into: how, in the words of the folder's run.json.
CREATE TABLE saliency_facts (
    run_id TEXT NOT NULL,
    record TEXT NOT NULL
);

-- One row a reply of a trace that was looked into.
CREATE TABLE trace_saliency (
    trace_id TEXT NOT NULL,
    step TEXT NOT NULL,               -- name of the step
    position INTEGER NOT NULL,        -- of the atomic question, or turn; 0 where there is one
    record TEXT NOT NULL              -- JSON: as above
);
