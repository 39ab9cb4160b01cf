-- SurgCheck: what a pair points at and with what, what is annotated in a frame, what a judge said of answers.

-- One row a unit of a SurgCheck suite. The unit's image is the frame.
CREATE TABLE pairs (
    unit_id TEXT NOT NULL,
    suite TEXT NOT NULL,
    task TEXT NOT NULL,
    level TEXT NOT NULL,              -- observation, composition, reasoning
    cue TEXT NOT NULL,                -- none, box, arrow, position, periphrasis
    picture_id TEXT NOT NULL,         -- image the VLM is shown: the frame itself, or its copy with the cue drawn in
    hand TEXT,                        -- lt, rt, assi: of the tool pointed at; NULL: not known, or no tool is
    annotation_id BIGINT,             -- in the scene graph; NULL: not known, or the whole frame is asked about
    box TEXT,                         -- JSON: [x, y, width, height] in pixels; NULL as annotation_id
    drawing TEXT                      -- JSON: kind (outline or arrow) and its numbers; NULL: nothing is drawn, or not known
);

-- One row a frame and suite made from scene graphs.
CREATE TABLE frames (
    image_id TEXT NOT NULL,
    suite TEXT NOT NULL,
    scene TEXT NOT NULL               -- JSON: tools, anatomical structures and CVS criteria with their boxes
);

-- One row an answer and judge.
CREATE TABLE judgements (
    run_id TEXT NOT NULL,
    probe_id TEXT NOT NULL,
    judge TEXT NOT NULL,
    score INTEGER,                    -- 1 (opposite) to 5 (equivalent); NULL: unscored
    reason TEXT NOT NULL,
    error TEXT NOT NULL               -- why it is unscored; '' otherwise
);

-- The text that stands for an answer, where its file names another than the rule takes out of the answer.
CREATE TABLE extractions (
    run_id TEXT NOT NULL,
    probe_id TEXT NOT NULL,
    text TEXT NOT NULL
);
