-- What the tables of version 1 were made without. Older versions of unimodal, which may serve the same
-- database meanwhile, do not call it.

-- A single reward in one short statement, which is a transaction by itself. The lock is held until
-- it ends; who finds it free does not need a time-out. False if the last event is not the one that
-- it is to follow (a server that was set back has another of that number), or if the campaign is
-- gone.
CREATE OR REPLACE FUNCTION unimodal.append_reward(
    to_campaign bigint, lock_key bigint, wait integer, is_fast boolean,
    seq bigint, "time" double precision, decision bigint, reward double precision, token bigint,
    after_time double precision, after_kind text, after_decision bigint, after_token bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('synchronous_commit', CASE WHEN is_fast THEN 'off'
        ELSE coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on') END, true);
    IF NOT pg_try_advisory_xact_lock(lock_key) THEN
        PERFORM set_config('lock_timeout', wait::text, true);
        PERFORM pg_advisory_xact_lock(lock_key);
    END IF;
    INSERT INTO unimodal.log (campaign, seq, time, kind, decision, reward, token)
    SELECT id, $5, $6, 'reward', $7, $8, $9
    FROM unimodal.campaigns WHERE id = to_campaign AND $5 = 1 + coalesce((
        SELECT CASE WHEN (last.time, last.kind, last.decision, last.token) IS NOT DISTINCT FROM
            (after_time, after_kind, after_decision, after_token) THEN last.seq ELSE -2 END
        FROM unimodal.log AS last WHERE last.campaign = to_campaign ORDER BY last.seq DESC LIMIT 1
    ), 0);
    RETURN FOUND;
END
$$;
