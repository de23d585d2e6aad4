-- The tables of campaigns in PostgreSQL, version 1. The log is the truth: rows are only added.

CREATE SCHEMA IF NOT EXISTS unimodal;

CREATE TABLE unimodal.schema_version (
    version integer NOT NULL,
    is_the_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_the_only_row)
);
INSERT INTO unimodal.schema_version (version) VALUES (1);

CREATE TABLE unimodal.campaigns (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    unimodal_version text NOT NULL DEFAULT '' -- of unimodal, which had it last
);

CREATE TABLE unimodal.settings (
    campaign bigint NOT NULL REFERENCES unimodal.campaigns ON DELETE CASCADE,
    key text COLLATE "C" NOT NULL,
    value text NOT NULL, -- JSON
    PRIMARY KEY (campaign, key)
);

-- No foreign key: it would lock and write a row of `campaigns` with every commit. Who appends
-- selects from that table instead, so that nothing is appended to a campaign that is gone.
CREATE TABLE unimodal.log (
    campaign bigint NOT NULL,
    seq bigint NOT NULL CHECK (seq > 0),
    time double precision NOT NULL,
    kind text COLLATE "C" NOT NULL,
    decision bigint,
    arm text, -- JSON: a text, or a number
    reason text,
    leader text, -- JSON
    near bigint,
    propensity double precision,
    reward double precision,
    data text COLLATE "C", -- JSON
    token bigint, -- of the transaction, with its first event: whether a lost commit has arrived
    PRIMARY KEY (campaign, seq)
);
CREATE INDEX revisions ON unimodal.log (campaign, seq) WHERE kind = 'revision';
CREATE INDEX keys ON unimodal.log (campaign, data, seq) WHERE kind = 'key';

CREATE TABLE unimodal.snapshots (
    campaign bigint NOT NULL REFERENCES unimodal.campaigns ON DELETE CASCADE,
    seq bigint NOT NULL,
    version text NOT NULL,
    state text NOT NULL,
    PRIMARY KEY (campaign, seq)
);

-- The rewards that the last snapshot knows, by decision; later ones are looked for in the log.
CREATE TABLE unimodal.rewards (
    campaign bigint NOT NULL REFERENCES unimodal.campaigns ON DELETE CASCADE,
    decision bigint NOT NULL,
    reward double precision NOT NULL,
    PRIMARY KEY (campaign, decision)
);

-- A single reward in one short statement, which is a transaction by itself. The lock is held until
-- it ends; who finds it free does not need a time-out. False if its number is not the next one (that
-- of an event which was moved into an archive would be free), or if the campaign is gone.
CREATE FUNCTION unimodal.append_reward(
    to_campaign bigint, lock_key bigint, wait integer, is_fast boolean,
    seq bigint, "time" double precision, decision bigint, reward double precision, token bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF is_fast THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    IF NOT pg_try_advisory_xact_lock(lock_key) THEN
        PERFORM set_config('lock_timeout', wait::text, true);
        PERFORM pg_advisory_xact_lock(lock_key);
    END IF;
    INSERT INTO unimodal.log (campaign, seq, time, kind, decision, reward, token)
    SELECT id, $5, $6, 'reward', $7, $8, $9
    FROM unimodal.campaigns WHERE id = to_campaign AND $5 = 1 + (
        SELECT coalesce(max(log.seq), 0) FROM unimodal.log WHERE log.campaign = to_campaign
    );
    RETURN FOUND;
END
$$;
