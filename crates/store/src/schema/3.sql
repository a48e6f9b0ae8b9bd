-- The reference pair is measured again and again in one campaign.
ALTER TABLE pair RENAME TO pair_before;

CREATE TABLE pair (
    campaign  TEXT NOT NULL CHECK (length(campaign) BETWEEN 1 AND 256),
    name      TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    repeat    INTEGER NOT NULL CHECK (repeat BETWEEN 1 AND 1000000), -- above 1 of the reference pair
    labels    TEXT NOT NULL CHECK (json_valid(labels)),
    study     INTEGER UNIQUE REFERENCES study (id) ON DELETE SET NULL,
    failure   TEXT, -- why it was not measured, or not to its end
    PRIMARY KEY (campaign, name, repeat)
) STRICT, WITHOUT ROWID;

INSERT INTO pair SELECT campaign, name, 1, labels, study, failure FROM pair_before;
DROP TABLE pair_before;

-- A database of a fleet has millions of runs, of thousands of studies: each query reads those it needs.
CREATE INDEX study_by_name ON study (name, seed, started_unix_ms);
CREATE INDEX tag_by_study ON tag (study);
CREATE INDEX run_by_study ON run (study);
CREATE INDEX run_not_ok ON run (study, status) WHERE status <> 'ok';

-- The main metrics, apart from the fifty others of each run. A list with IN would double the time of adding a value.
CREATE INDEX metric_compared ON metric (key, run, value)
    WHERE key = 'throughput' OR key = 'packets' OR key = 'transactions';
