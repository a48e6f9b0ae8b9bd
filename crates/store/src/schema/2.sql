-- Disturbed runs, what limited a run, and its counters over time. SQLite cannot change a CHECK, so the runs move to a new
-- table (https://sqlite.org/lang_altertable.html, section 7); foreign keys must be off, or dropping the old one would take
-- the metrics along.
CREATE TABLE new_run (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    boot             INTEGER NOT NULL,
    study            INTEGER NOT NULL,
    number           INTEGER NOT NULL,
    part             INTEGER NOT NULL,
    block            INTEGER NOT NULL CHECK (block >= 0),
    repeat           INTEGER NOT NULL CHECK (repeat >= 0),
    position         INTEGER NOT NULL CHECK (position >= 0),
    warmup           INTEGER NOT NULL CHECK (warmup IN (0, 1)),
    condition        INTEGER NOT NULL CHECK (condition >= 0),
    started_unix_ms  INTEGER NOT NULL,
    status           TEXT NOT NULL CHECK (status IN ('ok', 'failed', 'invalid')),
    reason           TEXT CHECK ((reason IS NULL) = (status = 'ok')),
    limited_by       TEXT, -- a label; none if nothing was measured
    evidence         TEXT CHECK (json_valid(evidence) AND (evidence IS NULL) = (limited_by IS NULL)), -- sentences
    detail           TEXT NOT NULL CHECK (json_valid(detail)),
    FOREIGN KEY (boot, study, number, part) REFERENCES boot (id, study, number, part) ON DELETE CASCADE
) STRICT;

INSERT INTO new_run (id, boot, study, number, part, block, repeat, position, warmup, condition, started_unix_ms, status,
                     reason, detail)
SELECT id, boot, study, number, part, block, repeat, position, warmup, condition, started_unix_ms, status, reason, detail
FROM run;

DROP TABLE run;
ALTER TABLE new_run RENAME TO run;

CREATE INDEX run_by_boot ON run (boot, study, number, part);
-- No run is recorded twice. A failed or disturbed one may be tried again; warm-ups are due again in each part of a boot.
CREATE UNIQUE INDEX run_once ON run (study, number, repeat, condition) WHERE status = 'ok' AND warmup = 0;
CREATE UNIQUE INDEX warmup_once ON run (study, number, part, repeat, condition) WHERE status = 'ok' AND warmup = 1;

-- A run's counters at small steps, as each side took them: apart from the runs, so that loading those stays quick.
CREATE TABLE series (
    run      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    side     TEXT NOT NULL,
    columns  TEXT NOT NULL CHECK (json_valid(columns)), -- an object of arrays of equal length, at_ns among them
    PRIMARY KEY (run, side)
) STRICT, WITHOUT ROWID;
