-- The store's first shape: suites of paired units, runs of VLMs over them, scores of answers.
-- Text ids, no foreign keys (a referenced table cannot be altered), NULL for "undefined".

CREATE TABLE suites (
    suite TEXT NOT NULL,
    system TEXT NOT NULL,
    source TEXT NOT NULL,             -- the files it was made from, for people
    report TEXT,                      -- JSON: how it was built, exclusions by reason; NULL for a manifest taken as it is
    created_at TIMESTAMP NOT NULL DEFAULT current_timestamp
);

CREATE TABLE image_roots (
    root TEXT NOT NULL                -- an absolute folder; no image outside a registered folder is ever served
);

CREATE TABLE images (
    image_id TEXT NOT NULL,
    dataset TEXT NOT NULL,
    file TEXT NOT NULL,               -- as the data set names it
    root TEXT,                        -- NULL: the file is not at hand
    path TEXT,                        -- relative to root
    sha256 TEXT,
    width INTEGER,
    height INTEGER,
    format TEXT,
    bytes BIGINT
);

CREATE TABLE units (
    unit_id TEXT NOT NULL,
    suite TEXT NOT NULL,
    source_id TEXT NOT NULL,
    image_id TEXT NOT NULL,
    split TEXT NOT NULL,
    complexity INTEGER NOT NULL,
    question_classes TEXT[] NOT NULL
);

CREATE TABLE probes (
    probe_id TEXT NOT NULL,
    unit_id TEXT NOT NULL,
    suite TEXT NOT NULL,
    source_id TEXT NOT NULL,
    role TEXT NOT NULL,
    position INTEGER NOT NULL,
    question TEXT NOT NULL,
    reference TEXT NOT NULL,
    question_class TEXT NOT NULL
);

CREATE TABLE runs (
    run_id TEXT NOT NULL,
    system TEXT NOT NULL,
    suite TEXT NOT NULL,
    vlm TEXT NOT NULL,
    vlm_group TEXT,                   -- general_open, medical_open, endoscopy_adapted, closed_source, blind; NULL: not known
    setting TEXT NOT NULL,
    stage TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    decoding TEXT NOT NULL,
    origin TEXT NOT NULL,
    source TEXT NOT NULL,             -- the files or the command the answers came from
    scorer TEXT NOT NULL,             -- which scores the pages show; older ones stay in `scores`
    scorer_version TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT current_timestamp
);

CREATE TABLE answers (
    run_id TEXT NOT NULL,
    probe_id TEXT NOT NULL,
    answer TEXT NOT NULL,             -- verbatim; '' when the VLM returned nothing
    error TEXT NOT NULL               -- '' when the call went well
);

-- One row a run, probe and scorer version, missing answers included: their absence is a result.
CREATE TABLE scores (
    run_id TEXT NOT NULL,
    probe_id TEXT NOT NULL,
    unit_id TEXT NOT NULL,
    image_id TEXT NOT NULL,
    role TEXT NOT NULL,
    question_class TEXT NOT NULL,
    scorer TEXT NOT NULL,
    scorer_version TEXT NOT NULL,
    status TEXT NOT NULL,             -- read, unparsed, empty, failed, missing
    correct BOOLEAN NOT NULL,
    parts TEXT NOT NULL               -- JSON: [{expected, parsed, correct, rule, reason}], one a part
);

-- One row a run, unit and scorer version: C_i, m_i and the sum of A_ij, from which every metric is a sum.
CREATE TABLE outcomes (
    run_id TEXT NOT NULL,
    unit_id TEXT NOT NULL,
    image_id TEXT NOT NULL,
    scorer TEXT NOT NULL,
    scorer_version TEXT NOT NULL,
    complexity INTEGER NOT NULL,
    complex_correct BOOLEAN NOT NULL,
    n_atoms INTEGER NOT NULL,
    n_atoms_correct INTEGER NOT NULL,
    n_missing INTEGER NOT NULL,
    n_failed INTEGER NOT NULL,
    n_empty INTEGER NOT NULL,
    n_unparsed INTEGER NOT NULL,
    outcome TEXT NOT NULL
);

-- Figures printed in a paper: what was printed, never recomputed.
CREATE TABLE published (
    system TEXT NOT NULL,
    source TEXT NOT NULL,             -- paper and table
    suite TEXT NOT NULL,
    vlm TEXT NOT NULL,
    vlm_group TEXT,
    parameters TEXT,
    n INTEGER,
    metric TEXT NOT NULL,
    value DOUBLE NOT NULL             -- a fraction between 0 and 1
);

-- One row an import that changed something, with its report as the user saw it.
CREATE TABLE imports (
    imported_at TIMESTAMP NOT NULL DEFAULT current_timestamp,
    kind TEXT NOT NULL,
    source TEXT NOT NULL,
    report TEXT NOT NULL
);
