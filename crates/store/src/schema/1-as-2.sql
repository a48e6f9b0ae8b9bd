-- A file of schema 1 that is only read, in the shape of schema 2: temporary names go before those of the file.
CREATE TEMP VIEW run AS SELECT *, NULL AS limited_by, NULL AS evidence FROM main.run;
CREATE TEMP TABLE series (run INTEGER, side TEXT, columns TEXT);
