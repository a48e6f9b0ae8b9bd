-- The pairs of machines of a fleet's campaigns, and the study that measured each.
CREATE TABLE pair (
    campaign  TEXT NOT NULL CHECK (length(campaign) BETWEEN 1 AND 256),
    name      TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    labels    TEXT NOT NULL CHECK (json_valid(labels)),
    study     INTEGER UNIQUE REFERENCES study (id) ON DELETE SET NULL,
    failure   TEXT, -- why it was not measured, or not to its end
    PRIMARY KEY (campaign, name)
) STRICT, WITHOUT ROWID;
