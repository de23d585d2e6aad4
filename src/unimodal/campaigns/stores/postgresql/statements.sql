-- What campaigns ask of PostgreSQL. Names stand in lines of their own; values are put in by psycopg.
-- Several statements under one name are sent together: one round trip.

-- name: greet
SELECT
    to_regclass('unimodal.schema_version') IS NOT NULL,
    to_regprocedure('unimodal.append_reward(bigint, bigint, integer, boolean, bigint, float8, bigint,
        float8, bigint, float8, text, bigint, bigint)') IS NOT NULL,
    pg_is_in_recovery(),
    current_setting('synchronous_commit'),
    current_setting('fsync'),
    current_setting('server_encoding'),
    current_setting('extra_float_digits')::integer,
    current_setting('default_transaction_isolation') = 'read committed'
    AND current_setting('default_transaction_read_only') = 'off',
    extract(epoch FROM clock_timestamp())::float8;

-- name: schema_version
SELECT version FROM unimodal.schema_version;

-- name: begin_schema
-- Not to_regclass: after the wait for the lock it may still know that there was no such table.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SELECT pg_advisory_xact_lock(%(key)s);
SELECT count(*) > 0 FROM pg_catalog.pg_tables
WHERE schemaname = 'unimodal' AND tablename = 'schema_version';

-- name: set_schema_version
UPDATE unimodal.schema_version SET version = %(version)s;

-- name: begin
-- The lock comes first: each statement after it sees all that was committed before. Who leaves a
-- transaction idle, since its process was stopped or its machine is gone, is cut off by the server.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL lock_timeout = %(wait)s;
SET LOCAL idle_in_transaction_session_timeout = %(idle)s;
SELECT pg_advisory_xact_lock(%(key)s);
SELECT (SELECT id FROM unimodal.campaigns WHERE name = %(name)s),
    extract(epoch FROM clock_timestamp())::float8;

-- name: wait_for_disk
-- A reload of the server may turn it off at any moment, but not for a transaction that has set it.
SELECT set_config('synchronous_commit',
    coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), true);

-- name: ends
-- The event that was the last one known, as far as it is there, and the last one.
SELECT seq, time, kind, decision, token FROM unimodal.log
WHERE campaign = %(campaign)s AND seq = ANY (ARRAY[
    %(known)s, (SELECT max(seq) FROM unimodal.log WHERE campaign = %(campaign)s)
]) ORDER BY seq;

-- name: news
SELECT seq, time, kind, decision, arm, reason, leader, near, propensity, reward, data
FROM unimodal.log WHERE campaign = %(campaign)s AND seq > %(known)s ORDER BY seq LIMIT %(limit)s;

-- name: begin_to_read
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- name: commit
COMMIT;

-- name: roll_back
ROLLBACK;

-- name: append
-- `after`: the event that must be the last one, with what it is known by; or NULL for any.
INSERT INTO unimodal.log
SELECT id, event.*, CASE WHEN event.seq IN (%(first)s, %(last)s) THEN %(token)s::bigint END
FROM unimodal.campaigns, unnest(
    %(seq)s::bigint[], %(time)s::float8[], %(kind)s::text[], %(decision)s::bigint[],
    %(arm)s::text[], %(reason)s::text[], %(leader)s::text[], %(near)s::bigint[],
    %(propensity)s::float8[], %(reward)s::float8[], %(data)s::text[]
) AS event (seq, time, kind, decision, arm, reason, leader, near, propensity, reward, data)
WHERE id = %(campaign)s AND (%(after)s::bigint IS NULL OR %(after)s = coalesce((
    SELECT CASE WHEN (last.time, last.kind, last.decision, last.token) IS NOT DISTINCT FROM
        (%(after_time)s::float8, %(after_kind)s, %(after_decision)s::bigint, %(after_token)s::bigint)
        THEN last.seq ELSE -1 END
    FROM unimodal.log AS last WHERE last.campaign = %(campaign)s ORDER BY last.seq DESC LIMIT 1
), 0));

-- name: append_reward
INSERT INTO unimodal.log (campaign, seq, time, kind, decision, reward, token)
SELECT id, %(seq)s, %(time)s, 'reward', %(decision)s, %(reward)s, %(token)s
FROM unimodal.campaigns
WHERE id = %(campaign)s AND (%(after)s::bigint IS NULL OR %(after)s = coalesce((
    SELECT CASE WHEN (last.time, last.kind, last.decision, last.token) IS NOT DISTINCT FROM
        (%(after_time)s::float8, %(after_kind)s, %(after_decision)s::bigint, %(after_token)s::bigint)
        THEN last.seq ELSE -1 END
    FROM unimodal.log AS last WHERE last.campaign = %(campaign)s ORDER BY last.seq DESC LIMIT 1
), 0));

-- name: begin_at_once
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL lock_timeout = %(wait)s;
SELECT pg_advisory_xact_lock(%(key)s);

-- name: reward_at_once
SELECT unimodal.append_reward(
    %(campaign)s, %(key)s, %(wait)s, %(fast)s,
    %(seq)s, %(time)s, %(decision)s, %(reward)s, %(token)s,
    %(after_time)s, %(after_kind)s, %(after_decision)s, %(after_token)s
);

-- name: commit_fast
SET LOCAL synchronous_commit = off;
COMMIT;

-- name: token
SELECT token FROM unimodal.log WHERE campaign = %(campaign)s AND seq = %(first)s;

-- name: campaign
SELECT id FROM unimodal.campaigns WHERE name = %(name)s;

-- name: names
SELECT name FROM unimodal.campaigns ORDER BY name LIMIT 1000;

-- name: create
INSERT INTO unimodal.campaigns (name) VALUES (%(name)s) RETURNING id;

-- name: create_settings
INSERT INTO unimodal.settings SELECT %(campaign)s, * FROM unnest(%(keys)s::text[], %(values)s::text[]);

-- name: settings
SELECT key, value FROM unimodal.settings WHERE campaign = %(campaign)s;

-- name: unimodal_version
SELECT unimodal_version FROM unimodal.campaigns WHERE id = %(campaign)s;

-- name: set_unimodal_version
UPDATE unimodal.campaigns SET unimodal_version = %(version)s WHERE id = %(campaign)s;

-- name: rows
SELECT seq, time, kind, decision, arm, reason, leader, near, propensity, reward, data
FROM unimodal.log WHERE campaign = %(campaign)s AND seq > %(after)s AND seq <= %(until)s
ORDER BY seq LIMIT %(limit)s;

-- name: last
SELECT coalesce(max(seq), 0) FROM unimodal.log WHERE campaign = %(campaign)s;

-- name: revisions
SELECT seq, time, kind, decision, arm, reason, leader, near, propensity, reward, data
FROM unimodal.log WHERE campaign = %(campaign)s AND kind = 'revision' ORDER BY seq;

-- name: counts
SELECT kind, count(*) FROM unimodal.log WHERE campaign = %(campaign)s AND seq <= %(until)s
GROUP BY kind;

-- name: reward_of
SELECT reward FROM unimodal.rewards WHERE campaign = %(campaign)s AND decision = %(decision)s
UNION ALL
SELECT reward FROM unimodal.log
WHERE campaign = %(campaign)s AND decision = %(decision)s AND kind = 'reward' AND seq > (
    SELECT coalesce(max(seq), 0) FROM unimodal.snapshots WHERE campaign = %(campaign)s
)
LIMIT 1;

-- name: last_key
SELECT seq, time, kind, decision, arm, reason, leader, near, propensity, reward, data
FROM unimodal.log WHERE campaign = %(campaign)s AND kind = 'key'
    AND data >= %(least)s AND data < %(above)s
ORDER BY seq DESC LIMIT 1;

-- name: find_rewards
INSERT INTO unimodal.rewards
SELECT campaign, decision, reward FROM unimodal.log
WHERE campaign = %(campaign)s AND kind = 'reward' AND seq > %(after)s AND seq <= %(until)s
ON CONFLICT DO NOTHING;

-- name: last_snapshot
SELECT coalesce(max(seq), 0) FROM unimodal.snapshots WHERE campaign = %(campaign)s;

-- name: snapshots
SELECT seq, version FROM unimodal.snapshots WHERE campaign = %(campaign)s ORDER BY seq;

-- name: snapshot
SELECT state FROM unimodal.snapshots WHERE campaign = %(campaign)s AND seq = %(seq)s;

-- name: keep_snapshot
DELETE FROM unimodal.snapshots WHERE campaign = %(campaign)s AND version = %(version)s AND seq > (
    SELECT min(seq) FROM unimodal.snapshots
    WHERE campaign = %(campaign)s AND version = %(version)s
) AND seq IS DISTINCT FROM (
    SELECT min(seq) FROM unimodal.snapshots
    WHERE campaign = %(campaign)s AND version = %(version)s AND seq > (
        SELECT coalesce(max(seq), 0) FROM unimodal.snapshots
        WHERE campaign = %(campaign)s AND version != %(version)s
    )
);
INSERT INTO unimodal.snapshots VALUES (%(campaign)s, %(seq)s, %(version)s, %(state)s)
ON CONFLICT (campaign, seq) DO UPDATE SET version = excluded.version, state = excluded.state;

-- name: lost_rewards
-- A decision has one reward in a log that was folded.
SELECT
    coalesce(sum((CASE WHEN kept.decision IS NULL THEN NOT (log.seq > last.seq)
        ELSE kept.reward IS DISTINCT FROM log.reward END)::integer), 0)
    + abs((SELECT count(*) FROM unimodal.rewards WHERE campaign = %(campaign)s)
        - count(kept.decision) - %(moved)s)
FROM unimodal.log
CROSS JOIN (
    SELECT coalesce(max(seq), 0) AS seq FROM unimodal.snapshots WHERE campaign = %(campaign)s
) AS last
LEFT JOIN unimodal.rewards AS kept
    ON kept.campaign = log.campaign AND kept.decision = log.decision
WHERE log.campaign = %(campaign)s AND log.kind = 'reward';

-- name: copy
UPDATE unimodal.campaigns SET unimodal_version = source.unimodal_version
FROM unimodal.campaigns AS source
WHERE campaigns.id = %(copy)s AND source.id = %(campaign)s;
INSERT INTO unimodal.settings
SELECT %(copy)s, key, value FROM unimodal.settings WHERE campaign = %(campaign)s;
INSERT INTO unimodal.log
SELECT %(copy)s, seq, time, kind, decision, arm, reason, leader, near, propensity, reward, data
FROM unimodal.log WHERE campaign = %(campaign)s;
INSERT INTO unimodal.snapshots
SELECT %(copy)s, seq, version, state FROM unimodal.snapshots WHERE campaign = %(campaign)s;
INSERT INTO unimodal.rewards
SELECT %(copy)s, decision, reward FROM unimodal.rewards WHERE campaign = %(campaign)s;
