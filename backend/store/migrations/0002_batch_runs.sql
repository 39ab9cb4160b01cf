-- What a batch run knows beyond its answers, taken in with them (import run): who answered in
-- which build, on what, with which wordings, how long it took, and what exactly each call was.

-- One row a run that came out of a run folder; runs from other files have none.
CREATE TABLE run_facts (
    run_id TEXT NOT NULL,
    record TEXT NOT NULL              -- JSON: the folder's run.json as it stood at the import
);

-- One row an answer of such a run.
CREATE TABLE calls (
    run_id TEXT NOT NULL,
    probe_id TEXT NOT NULL,
    item_id TEXT NOT NULL,            -- hash over VLM, decoding, prompt version, image, prompt, probe and stage
    prompt TEXT NOT NULL,             -- verbatim, all the VLM was told
    image_sha256 TEXT,                -- of the file that was sent; NULL: none was
    n_tokens BIGINT,                  -- generated; NULL: the VLM does not say
    was_cut BOOLEAN NOT NULL,         -- the token limit ended it
    seconds DOUBLE NOT NULL,          -- of the call; of a batch, its share
    probabilities TEXT                -- JSON: of watched words; NULL: the VLM does not tell
);
