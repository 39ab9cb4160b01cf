-- VeriMap: questions with their tasks, what an oracle said of answers, and every verdict of a verifier.

-- One row a unit of a VeriMap suite, which is a data set. Its one probe has the role generate.
CREATE TABLE examples (
    unit_id TEXT NOT NULL,
    suite TEXT NOT NULL,
    task TEXT,                        -- of the seven; NULL: not labelled
    labelled_by TEXT,                 -- how it came to be: file, vote, rules, or an annotator's name; NULL as task
    images TEXT[] NOT NULL,           -- files as the data set names them; the unit's image is the first
    options TEXT NOT NULL,            -- JSON: [{letter, text}]
    reference_letter TEXT NOT NULL,   -- of the right option; '' without options
    answer_type TEXT,                 -- open, closed or set; NULL: not said
    native_types TEXT[] NOT NULL      -- the data set's own question types
);

-- One row an answer of a generator's run and an oracle that was asked about it.
CREATE TABLE oracle_judgements (
    run_id TEXT NOT NULL,             -- the generator's run
    probe_id TEXT NOT NULL,
    oracle TEXT NOT NULL,             -- matching, or the judge's name
    correct BOOLEAN,                  -- NULL: it could not tell, or the call failed
    reason TEXT NOT NULL,
    error TEXT NOT NULL               -- why it is not judged; '' otherwise
);

-- One row a verification: what one verifier said of one answer. All figures are made from these.
CREATE TABLE verifications (
    run_id TEXT NOT NULL,             -- the verifier's run
    unit_id TEXT NOT NULL,
    suite TEXT NOT NULL,
    image_id TEXT NOT NULL,
    generator TEXT NOT NULL,
    verifier TEXT NOT NULL,
    condition TEXT NOT NULL,          -- plain, two_step, image_withheld, image_swapped
    turn INTEGER NOT NULL,            -- of the feedback loop; 0: the first answer
    place INTEGER NOT NULL,           -- from 0, among rows of a run that are alike in unit and turn: those stay apart
    answer TEXT,                      -- that was judged; NULL: not known
    oracle_correct BOOLEAN,           -- NULL: nobody judged the answer
    oracle TEXT,                      -- who did: file, matching, or the judge's name; NULL as oracle_correct
    verdict TEXT,                     -- CORRECT, INCORRECT, UNCERTAIN; NULL: none
    explanation TEXT,                 -- what the verifier said besides; NULL: not known
    status TEXT NOT NULL,             -- read, unparsed, empty, failed, missing
    error TEXT NOT NULL               -- '' when the call went well
);
