-- What copies, compaction and erasure ask of PostgreSQL; see statements.sql.

-- name: kept_rewards
SELECT decision, reward FROM unimodal.rewards
WHERE campaign = %(campaign)s AND decision > %(after)s ORDER BY decision LIMIT %(limit)s;

-- name: put_settings
INSERT INTO unimodal.settings
SELECT %(campaign)s, * FROM unnest(%(keys)s::text[], %(values)s::text[])
ON CONFLICT (campaign, key) DO UPDATE SET value = excluded.value;

-- name: put_events
INSERT INTO unimodal.log
SELECT %(campaign)s, * FROM unnest(
    %(seq)s::bigint[], %(time)s::float8[], %(kind)s::text[], %(decision)s::bigint[],
    %(arm)s::text[], %(reason)s::text[], %(leader)s::text[], %(near)s::bigint[],
    %(propensity)s::float8[], %(reward)s::float8[], %(data)s::text[]
)
ON CONFLICT (campaign, seq) DO UPDATE SET
    time = excluded.time, kind = excluded.kind, decision = excluded.decision, arm = excluded.arm,
    reason = excluded.reason, leader = excluded.leader, near = excluded.near,
    propensity = excluded.propensity, reward = excluded.reward, data = excluded.data;

-- name: put_snapshot
INSERT INTO unimodal.snapshots VALUES (%(campaign)s, %(seq)s, %(version)s, %(state)s)
ON CONFLICT (campaign, seq) DO UPDATE SET version = excluded.version, state = excluded.state;

-- name: put_rewards
INSERT INTO unimodal.rewards
SELECT %(campaign)s, * FROM unnest(%(decisions)s::bigint[], %(rewards)s::float8[])
ON CONFLICT (campaign, decision) DO UPDATE SET reward = excluded.reward;

-- name: drop_events
DELETE FROM unimodal.log
WHERE campaign = %(campaign)s AND seq < %(before)s AND NOT seq = ANY(%(spare)s::bigint[]);

-- name: drop_snapshot
DELETE FROM unimodal.snapshots WHERE campaign = %(campaign)s AND seq = %(seq)s;

-- name: drop_snapshots
DELETE FROM unimodal.snapshots WHERE campaign = %(campaign)s AND seq < %(before)s;

-- name: drop_rewards
DELETE FROM unimodal.rewards
WHERE campaign = %(campaign)s AND decision = ANY(%(decisions)s::bigint[]);

-- name: reclaim
VACUUM unimodal.log, unimodal.snapshots, unimodal.rewards, unimodal.settings;
