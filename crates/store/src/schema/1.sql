-- Inside the step's transaction, so that a file either is netassay's with its tables or is still empty.
PRAGMA application_id = 1312904025;

CREATE TABLE study (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    name              TEXT NOT NULL,
    toml              TEXT NOT NULL,
    plan              TEXT NOT NULL CHECK (json_valid(plan)),
    seed              INTEGER NOT NULL, -- the 64 bits of an unsigned number
    scenario          TEXT NOT NULL,
    version           TEXT NOT NULL,
    status            TEXT NOT NULL CHECK (status IN ('running', 'complete', 'interrupted', 'failed')),
    started_unix_ms   INTEGER NOT NULL,
    finished_unix_ms  INTEGER
) STRICT;

-- Environments, once each: most boots of a campaign see the same one.
CREATE TABLE document (
    id    INTEGER PRIMARY KEY,
    hash  INTEGER NOT NULL, -- 64-bit FNV-1a of json; a hint for the search, equality is decided on json
    json  TEXT NOT NULL CHECK (json_valid(json))
) STRICT;
CREATE INDEX document_by_hash ON document (hash);

-- A boot that is resumed is another part of the same planned number.
CREATE TABLE boot (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    study              INTEGER NOT NULL REFERENCES study (id) ON DELETE CASCADE,
    number             INTEGER NOT NULL CHECK (number >= 0),
    part               INTEGER NOT NULL CHECK (part >= 1),
    environment        INTEGER NOT NULL REFERENCES document (id),
    environment_after  INTEGER REFERENCES document (id),
    started_unix_ms    INTEGER NOT NULL,
    ended_unix_ms      INTEGER,
    UNIQUE (study, number, part),
    UNIQUE (id, study, number, part)
) STRICT;

-- study, number and part repeat the boot's (the foreign key holds them equal) so that the unique indexes can see them.
CREATE TABLE run (
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
    evidence         TEXT CHECK ((evidence IS NULL OR json_valid(evidence)) AND (evidence IS NULL) = (limited_by IS NULL)), -- codes with their figures
    detail           TEXT NOT NULL CHECK (json_valid(detail)),
    FOREIGN KEY (boot, study, number, part) REFERENCES boot (id, study, number, part) ON DELETE CASCADE
) STRICT;
CREATE INDEX run_by_boot ON run (boot, study, number, part);

-- No run is recorded twice. A failed or disturbed one may be tried again; warm-ups are due again in each part of a boot.
CREATE UNIQUE INDEX run_once ON run (study, number, repeat, condition) WHERE status = 'ok' AND warmup = 0;
CREATE UNIQUE INDEX warmup_once ON run (study, number, part, repeat, condition) WHERE status = 'ok' AND warmup = 1;

CREATE TABLE metric (
    run    INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    key    TEXT NOT NULL,
    value  REAL NOT NULL,
    PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;

-- A run's counters at small steps, one row for each side: apart from the runs, so that loading those stays quick.
CREATE TABLE series (
    run      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    side     TEXT NOT NULL,
    columns  TEXT NOT NULL CHECK (json_valid(columns)), -- the record of the counters
    PRIMARY KEY (run, side)
) STRICT, WITHOUT ROWID;

-- A person's names for studies: one study each. A word of digits is a study's number.
CREATE TABLE tag (
    name   TEXT NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 64 AND name NOT GLOB '*[^A-Za-z0-9._-]*'
                                            AND name NOT GLOB '-*' AND name GLOB '*[^0-9]*'),
    study  INTEGER NOT NULL REFERENCES study (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Remarks on studies that earlier versions wrote. Nothing reads them; a file's tables are compared with these.
CREATE TABLE note (
    id               INTEGER PRIMARY KEY,
    study            INTEGER NOT NULL REFERENCES study (id) ON DELETE CASCADE,
    written_unix_ms  INTEGER NOT NULL,
    text             TEXT NOT NULL CHECK (length(text) BETWEEN 1 AND 4096)
) STRICT;
