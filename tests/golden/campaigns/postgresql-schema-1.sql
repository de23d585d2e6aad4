SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA unimodal;
CREATE FUNCTION unimodal.append_reward(to_campaign bigint, lock_key bigint, wait integer, is_fast boolean, seq bigint, "time" double precision, decision bigint, reward double precision, token bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $_$
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
$_$;
CREATE FUNCTION unimodal.append_reward(to_campaign bigint, lock_key bigint, wait integer, is_fast boolean, seq bigint, "time" double precision, decision bigint, reward double precision, token bigint, after_time double precision, after_kind text, after_decision bigint, after_token bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $_$
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
$_$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE unimodal.campaigns (
    id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    unimodal_version text DEFAULT ''::text NOT NULL
);
ALTER TABLE unimodal.campaigns ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME unimodal.campaigns_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE unimodal.log (
    campaign bigint NOT NULL,
    seq bigint NOT NULL,
    "time" double precision NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    decision bigint,
    arm text,
    reason text,
    leader text,
    near bigint,
    propensity double precision,
    reward double precision,
    data text COLLATE pg_catalog."C",
    token bigint,
    CONSTRAINT log_seq_check CHECK ((seq > 0))
);
CREATE TABLE unimodal.rewards (
    campaign bigint NOT NULL,
    decision bigint NOT NULL,
    reward double precision NOT NULL
);
CREATE TABLE unimodal.schema_version (
    version integer NOT NULL,
    is_the_only_row boolean DEFAULT true NOT NULL,
    CONSTRAINT schema_version_is_the_only_row_check CHECK (is_the_only_row)
);
CREATE TABLE unimodal.settings (
    campaign bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL
);
CREATE TABLE unimodal.snapshots (
    campaign bigint NOT NULL,
    seq bigint NOT NULL,
    version text NOT NULL,
    state text NOT NULL
);
INSERT INTO unimodal.campaigns OVERRIDING SYSTEM VALUE VALUES (2, 'prices-whole', '0.1.0');
INSERT INTO unimodal.campaigns OVERRIDING SYSTEM VALUE VALUES (3, 'prices-compacted', '0.1.0');
INSERT INTO unimodal.campaigns OVERRIDING SYSTEM VALUE VALUES (4, 'prices-moved', '0.1.0');
INSERT INTO unimodal.campaigns OVERRIDING SYSTEM VALUE VALUES (9, 'visits', '0.1.0');
INSERT INTO unimodal.log VALUES (4, 156, 1237, 'reward', 73, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 157, 1238, 'decide', 74, '"19.90"', 'contest', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 158, 1239, 'reward', 74, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 159, 1240, 'decide', 75, '"19.90"', 'forced leader', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 160, 1241, 'decide', 76, '"19.90"', 'contest', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 161, 1242, 'expire', 42, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 162, 1242, 'reward', 76, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 37, 1035, 'key', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"key": "d4148817610cb3150172d4b7cd1862ca", "n": 4, "events": [[33, 36]]}', NULL);
INSERT INTO unimodal.log VALUES (4, 39, 1038, 'key', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"key": "bf6b165db0c5081807bfe12c37ea85da", "n": 1, "events": [[38, 38]]}', NULL);
INSERT INTO unimodal.log VALUES (4, 33, 1035, 'decide', 19, '"erased-1"', 'forced leader', '"erased-1"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 34, 1035, 'decide', 20, '"14.90"', 'contest', '"erased-1"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 35, 1035, 'decide', 21, '"19.90"', 'contest', '"erased-1"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 36, 1035, 'decide', 22, '"erased-1"', 'forced leader', '"erased-1"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 38, 1038, 'decide', 23, '"14.90"', 'contest', '"erased-1"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 134, 1219, 'decide', 63, '"19.90"', 'forced leader', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 135, 1219, 'decide', 64, '"erased-1"', 'contest', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 136, 1219, 'key', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"key": "7d95151a7098f3c01c5a20770a94b344", "n": 2, "events": [[134, 135]]}', NULL);
INSERT INTO unimodal.log VALUES (4, 148, 1231, 'erase', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"number": 2}', NULL);
INSERT INTO unimodal.log VALUES (3, 1, 1000, 'data', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"weight": 1.0, "certify": false, "columns": ["arm", "count", "total"], "rows": [["9.90", 4, 1.0], ["14.90", 5, 3.0]], "one_peak": true}', NULL);
INSERT INTO unimodal.log VALUES (3, 86, 1170, 'open', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"version": "0.1.0"}', NULL);
INSERT INTO unimodal.log VALUES (3, 87, 1173, 'limit', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"resume": ["14.90"]}', NULL);
INSERT INTO unimodal.log VALUES (3, 88, 1174, 'limit', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"cap": null}', NULL);
INSERT INTO unimodal.log VALUES (3, 89, 1175, 'decide', 38, '"19.90"', 'contest', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 90, 1176, 'reward', 38, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 91, 1177, 'decide', 39, '"19.90"', 'contest', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 92, 1178, 'decide', 40, '"19.90"', 'forced leader', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 1, 1000, 'data', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"weight": 1.0, "certify": false, "columns": ["arm", "count", "total"], "rows": [["9.90", 4, 1.0], ["14.90", 5, 3.0]], "one_peak": true}', NULL);
INSERT INTO unimodal.log VALUES (2, 2, 1000, 'open', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"version": "0.1.0"}', NULL);
INSERT INTO unimodal.log VALUES (2, 3, 1001, 'decide', 1, '"19.90"', 'start', NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 4, 1002, 'reward', 1, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 5, 1003, 'decide', 2, '"12.90"', 'start', NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 6, 1004, 'reward', 2, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 7, 1005, 'decide', 3, '"16.90"', 'start', NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 8, 1006, 'decide', 4, '"24.90"', 'start', NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 9, 1007, 'reward', 4, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 10, 1008, 'decide', 5, '"14.90"', 'forced leader', '"14.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 11, 1009, 'reward', 5, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 12, 1010, 'decide', 6, '"16.90"', 'contest', '"14.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 13, 1011, 'decide', 7, '"16.90"', 'contest', '"14.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 14, 1012, 'reward', 7, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 15, 1013, 'decide', 8, '"16.90"', 'forced leader', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 16, 1014, 'reward', 8, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 17, 1015, 'decide', 9, '"16.90"', 'contest', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 18, 1016, 'decide', 10, '"16.90"', 'contest', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 19, 1017, 'reward', 10, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 20, 1018, 'decide', 11, '"16.90"', 'forced leader', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 21, 1019, 'reward', 11, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 22, 1020, 'decide', 12, '"14.90"', 'contest', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 23, 1025, 'decide', 13, '"16.90"', 'contest', '"16.90"', 3, 0.6810966810977421, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 24, 1026, 'reward', 13, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 25, 1027, 'decide', 14, '"16.90"', 'forced leader', '"16.90"', 3, 1, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 26, 1028, 'reward', 14, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 27, 1029, 'decide', 15, '"14.90"', 'forced leader', '"14.90"', 3, 1, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 28, 1030, 'decide', 16, '"16.90"', 'contest', '"14.90"', 3, 0.4087024087389441, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 29, 1031, 'reward', 16, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 30, 1032, 'decide', 17, '"19.90"', 'contest', '"16.90"', 3, 0.15929658584811252, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 31, 1033, 'reward', 17, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 32, 1034, 'decide', 18, '"14.90"', 'contest', '"16.90"', 3, 0.26791672389530097, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 33, 1035, 'decide', 19, '"16.90"', 'forced leader', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 34, 1035, 'decide', 20, '"14.90"', 'contest', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 35, 1035, 'decide', 21, '"19.90"', 'contest', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 36, 1035, 'decide', 22, '"16.90"', 'forced leader', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 37, 1035, 'key', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"key": "d4148817610cb3150172d4b7cd1862ca", "n": 4, "events": [[33, 36]]}', NULL);
INSERT INTO unimodal.log VALUES (2, 38, 1038, 'decide', 23, '"14.90"', 'contest', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 39, 1038, 'key', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"key": "bf6b165db0c5081807bfe12c37ea85da", "n": 1, "events": [[38, 38]]}', NULL);
INSERT INTO unimodal.log VALUES (2, 40, 1039, 'tell', NULL, '"12.90"', NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 41, 1039, 'tell', NULL, '"16.90"', NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 42, 1040, 'revision', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"add": [["12.90", "13.90"], ["13.90", "14.90"]], "retire": [], "remove": [["12.90", "14.90"]], "fingerprint": "b997d4ab973defb5"}', NULL);
INSERT INTO unimodal.log VALUES (2, 43, 1041, 'revision', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"add": [["24.90", "29.90"], ["12.90", "14.90"]], "retire": [], "fingerprint": "6ef46443601a61f2"}', NULL);
INSERT INTO unimodal.log VALUES (2, 44, 1042, 'revision', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"add": [], "retire": [], "remove": [["12.90", "14.90"]], "fingerprint": "0677b1232119c7e6"}', NULL);
INSERT INTO unimodal.log VALUES (2, 45, 1043, 'limit', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"pause": ["14.90"]}', NULL);
INSERT INTO unimodal.log VALUES (2, 46, 1044, 'limit', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"cap": [0.4, 10]}', NULL);
INSERT INTO unimodal.log VALUES (2, 47, 1045, 'decide', 24, '"13.90"', 'start', NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 48, 1046, 'decide', 25, '"29.90"', 'start', NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 49, 1047, 'reward', 25, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 50, 1048, 'decide', 26, '"12.90"', 'forced leader', '"12.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 51, 1049, 'reward', 26, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 52, 1050, 'decide', 27, '"12.90"', 'contest', '"12.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 53, 1051, 'decide', 28, '"12.90"', 'contest', '"12.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 54, 1052, 'reward', 28, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 55, 1053, 'decide', 29, '"12.90"', 'forced leader', '"12.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 56, 1054, 'reward', 29, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 57, 1055, 'decide', 30, '"9.90"', 'contest', '"12.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 58, 1056, 'decide', 31, '"12.90"', 'contest', '"12.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 59, 1057, 'reward', 31, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 60, 1058, 'decide', 32, '"12.90"', 'forced leader', '"12.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 61, 1059, 'reward', 32, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 62, 1060, 'decide', 33, '"12.90"', 'contest', '"12.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 63, 1061, 'decide', 34, '"12.90"', 'contest', '"12.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 64, 1062, 'reward', 34, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 65, 1063, 'decide', 35, '"12.90"', 'forced leader', '"12.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 66, 1064, 'reward', 35, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 67, 1065, 'expire', 3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 68, 1065, 'decide', 36, '"19.90"', 'forced leader', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 69, 1066, 'decide', 37, '"19.90"', 'contest', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 70, 1067, 'reward', 37, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 71, 1168, 'expire', 6, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 72, 1168, 'expire', 9, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 73, 1168, 'expire', 12, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 74, 1168, 'expire', 15, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 75, 1168, 'expire', 18, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 76, 1168, 'expire', 19, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 77, 1168, 'expire', 20, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 78, 1168, 'expire', 21, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 79, 1168, 'expire', 22, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 80, 1168, 'expire', 23, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 81, 1168, 'expire', 24, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 82, 1168, 'expire', 27, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 83, 1168, 'expire', 30, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 84, 1168, 'expire', 33, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (2, 85, 1168, 'expire', 36, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 93, 1179, 'reward', 40, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 94, 1180, 'decide', 41, '"19.90"', 'contest', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 95, 1181, 'reward', 41, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 96, 1182, 'decide', 42, '"19.90"', 'contest', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 97, 1183, 'decide', 43, '"19.90"', 'forced leader', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 98, 1184, 'reward', 43, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 99, 1185, 'decide', 44, '"19.90"', 'contest', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 100, 1186, 'reward', 44, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 101, 1187, 'decide', 45, '"16.90"', 'forced leader', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 102, 1188, 'decide', 46, '"16.90"', 'contest', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 103, 1189, 'reward', 46, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 104, 1190, 'decide', 47, '"19.90"', 'contest', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 105, 1191, 'reward', 47, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 106, 1192, 'decide', 48, '"16.90"', 'contest', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 107, 1193, 'decide', 49, '"16.90"', 'forced leader', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 108, 1194, 'reward', 49, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 109, 1195, 'revision', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"add": [], "retire": ["29.90"], "fingerprint": "b997d4ab973defb5"}', NULL);
INSERT INTO unimodal.log VALUES (3, 110, 1196, 'decide', 50, '"16.90"', 'contest', '"16.90"', 3, 0.43895912650345725, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 111, 1197, 'reward', 50, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 112, 1198, 'decide', 51, '"19.90"', 'contest', '"16.90"', 3, 0.27984642208944466, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 113, 1199, 'decide', 52, '"16.90"', 'forced leader', '"16.90"', 3, 1, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 114, 1200, 'reward', 52, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 115, 1201, 'decide', 53, '"16.90"', 'contest', '"16.90"', 3, 0.40917962080113135, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 116, 1202, 'reward', 53, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 33, 1035, 'decide', 19, '"16.90"', 'forced leader', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 34, 1035, 'decide', 20, '"14.90"', 'contest', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 35, 1035, 'decide', 21, '"19.90"', 'contest', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 36, 1035, 'decide', 22, '"16.90"', 'forced leader', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 37, 1035, 'key', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"key": "d4148817610cb3150172d4b7cd1862ca", "n": 4, "events": [[33, 36]]}', NULL);
INSERT INTO unimodal.log VALUES (3, 38, 1038, 'decide', 23, '"14.90"', 'contest', '"16.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 39, 1038, 'key', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"key": "bf6b165db0c5081807bfe12c37ea85da", "n": 1, "events": [[38, 38]]}', NULL);
INSERT INTO unimodal.log VALUES (3, 117, 1203, 'decide', 54, '"19.90"', 'forced leader', '"19.90"', 3, 1, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (3, 42, 1040, 'revision', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"add": [["12.90", "13.90"], ["13.90", "14.90"]], "retire": [], "remove": [["12.90", "14.90"]], "fingerprint": "b997d4ab973defb5"}', NULL);
INSERT INTO unimodal.log VALUES (3, 43, 1041, 'revision', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"add": [["24.90", "29.90"], ["12.90", "14.90"]], "retire": [], "fingerprint": "6ef46443601a61f2"}', NULL);
INSERT INTO unimodal.log VALUES (3, 44, 1042, 'revision', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"add": [], "retire": [], "remove": [["12.90", "14.90"]], "fingerprint": "0677b1232119c7e6"}', NULL);
INSERT INTO unimodal.log VALUES (3, 85, 1168, 'expire', 36, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 150, 1232, 'open', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"version": "0.1.0"}', NULL);
INSERT INTO unimodal.log VALUES (4, 137, 1220, 'open', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"version": "0.1.0"}', NULL);
INSERT INTO unimodal.log VALUES (4, 138, 1222, 'decide', 65, '"erased-1"', 'contest', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 139, 1223, 'reward', 65, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 140, 1224, 'decide', 66, '"19.90"', 'forced leader', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 141, 1225, 'decide', 67, '"erased-1"', 'contest', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 142, 1226, 'reward', 67, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 143, 1227, 'decide', 68, '"19.90"', 'contest', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 144, 1228, 'reward', 68, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 145, 1229, 'decide', 69, '"19.90"', 'forced leader', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 146, 1230, 'decide', 70, '"19.90"', 'contest', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 147, 1231, 'reward', 70, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 151, 1233, 'decide', 71, '"erased-1"', 'contest', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 152, 1234, 'reward', 71, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 153, 1235, 'decide', 72, '"19.90"', 'forced leader', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 1, 1000, 'data', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"weight": 1.0, "certify": false, "columns": ["arm", "count", "total"], "rows": [["erased-3", 4, 1.0], ["14.90", 5, 3.0]], "one_peak": true}', NULL);
INSERT INTO unimodal.log VALUES (4, 42, 1040, 'revision', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"add": [["12.90", "13.90"], ["13.90", "14.90"]], "retire": [], "remove": [["12.90", "14.90"]], "fingerprint": "e517ae816295956d"}', NULL);
INSERT INTO unimodal.log VALUES (4, 43, 1041, 'revision', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"add": [["24.90", "erased-2"], ["12.90", "14.90"]], "retire": [], "fingerprint": "b226d6048e56b205"}', NULL);
INSERT INTO unimodal.log VALUES (4, 44, 1042, 'revision', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"add": [], "retire": [], "remove": [["12.90", "14.90"]], "fingerprint": "518eb69827935af0"}', NULL);
INSERT INTO unimodal.log VALUES (4, 109, 1195, 'revision', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"add": [], "retire": ["erased-2"], "fingerprint": "e517ae816295956d"}', NULL);
INSERT INTO unimodal.log VALUES (4, 149, 1231, 'erase', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"number": 3}', NULL);
INSERT INTO unimodal.log VALUES (4, 154, 1236, 'decide', 73, '"19.90"', 'contest', '"19.90"', 3, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (4, 155, 1237, 'expire', 39, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 1, 1000, 'look-up', NULL, '"[2, 1]"', NULL, NULL, NULL, NULL, NULL, '[[2, 1], [[1, 1], [3, 1], [2, 0], [2, 2]]]', NULL);
INSERT INTO unimodal.log VALUES (9, 2, 1000, 'look-up', NULL, '"[3, 1]"', NULL, NULL, NULL, NULL, NULL, '[[3, 1], [[2, 1], [4, 1], [3, 0], [3, 2]]]', NULL);
INSERT INTO unimodal.log VALUES (9, 3, 1000, 'look-up', NULL, '"[2, 2]"', NULL, NULL, NULL, NULL, NULL, '[[2, 2], [[1, 2], [3, 2], [2, 1], [2, 3]]]', NULL);
INSERT INTO unimodal.log VALUES (9, 4, 1000, 'open', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"version": "0.1.0"}', NULL);
INSERT INTO unimodal.log VALUES (9, 5, 1001, 'decide', 1, '"[2, 1]"', 'start', NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 6, 1002, 'reward', 1, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 7, 1003, 'decide', 2, '"[3, 1]"', 'start', NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 8, 1004, 'reward', 2, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 9, 1005, 'decide', 3, '"[2, 2]"', 'start', NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 10, 1006, 'decide', 4, '"[3, 2]"', 'start', NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 11, 1007, 'reward', 4, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 12, 1008, 'look-up', NULL, '"[3, 2]"', NULL, NULL, NULL, NULL, NULL, '[[3, 2], [[2, 2], [4, 2], [3, 1], [3, 3]]]', NULL);
INSERT INTO unimodal.log VALUES (9, 13, 1008, 'decide', 5, '"[3, 2]"', 'forced leader', '"[3, 2]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 14, 1009, 'reward', 5, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 15, 1010, 'decide', 6, '"[2, 2]"', 'contest', '"[3, 2]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 16, 1011, 'decide', 7, '"[2, 1]"', 'forced leader', '"[2, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 17, 1012, 'reward', 7, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 18, 1013, 'decide', 8, '"[1, 1]"', 'contest', '"[2, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 19, 1014, 'reward', 8, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 20, 1015, 'look-up', NULL, '"[1, 1]"', NULL, NULL, NULL, NULL, NULL, '[[1, 1], [[0, 1], [2, 1], [1, 0], [1, 2]]]', NULL);
INSERT INTO unimodal.log VALUES (9, 21, 1015, 'decide', 9, '"[1, 1]"', 'forced leader', '"[1, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 22, 1016, 'decide', 10, '"[1, 1]"', 'contest', '"[1, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 23, 1017, 'reward', 10, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 24, 1018, 'decide', 11, '"[0, 1]"', 'contest', '"[1, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 25, 1019, 'reward', 11, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 26, 1020, 'decide', 12, '"[1, 0]"', 'contest', '"[1, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 27, 1021, 'decide', 13, '"[2, 1]"', 'contest', '"[1, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 28, 1021, 'decide', 14, '"[1, 1]"', 'forced leader', '"[1, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 29, 1021, 'decide', 15, '"[1, 1]"', 'contest', '"[1, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 30, 1021, 'key', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"key": "2493c327cdc7350c079e5642ff454a67", "n": 3, "events": [[27, 29]]}', NULL);
INSERT INTO unimodal.log VALUES (9, 31, 1023, 'decide', 16, '"[1, 1]"', 'contest', '"[1, 1]"', 5, 0.5166666666768751, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 32, 1024, 'reward', 16, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 33, 1025, 'decide', 17, '"[2, 1]"', 'contest', '"[1, 1]"', 5, 0.07878787881599489, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 34, 1026, 'reward', 17, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 35, 1027, 'decide', 18, '"[1, 2]"', 'contest', '"[1, 1]"', 5, 0.1409090911269257, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 36, 1028, 'decide', 19, '"[1, 1]"', 'forced leader', '"[1, 1]"', 5, 1, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 37, 1029, 'reward', 19, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 38, 1030, 'decide', 20, '"[1, 1]"', 'contest', '"[1, 1]"', 5, 0.6235431235447649, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 39, 1031, 'reward', 20, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 40, 1032, 'decide', 21, '"[1, 1]"', 'contest', '"[1, 1]"', 5, 0.6703296703280969, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 41, 1033, 'decide', 22, '"[1, 1]"', 'contest', '"[1, 1]"', 5, 0.6703296703280969, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 42, 1034, 'reward', 22, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 43, 1035, 'expire', 3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 44, 1035, 'decide', 23, '"[2, 1]"', 'contest', '"[1, 1]"', 5, 0.16703296707192475, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 45, 1036, 'reward', 23, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 46, 1037, 'decide', 24, '"[1, 1]"', 'forced leader', '"[1, 1]"', 5, 1, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 47, 1038, 'decide', 25, '"[1, 1]"', 'contest', '"[1, 1]"', 5, 0.5038461538679796, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 48, 1039, 'reward', 25, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 49, 1040, 'expire', 6, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 50, 1040, 'decide', 26, '"[1, 0]"', 'contest', '"[1, 1]"', 5, 0.23525910372381614, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 51, 1041, 'reward', 26, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 52, 1042, 'look-up', NULL, '"[1, 0]"', NULL, NULL, NULL, NULL, NULL, '[[1, 0], [[0, 0], [2, 0], [1, -1], [1, 1]]]', NULL);
INSERT INTO unimodal.log VALUES (9, 53, 1042, 'decide', 27, '"[1, 0]"', 'forced leader', '"[1, 0]"', 5, 1, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 54, 1043, 'decide', 28, '"[0, 0]"', 'contest', '"[1, 0]"', 5, 0.16083916088831487, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 55, 1044, 'reward', 28, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 56, 1045, 'expire', 9, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 57, 1045, 'look-up', NULL, '"[0, 0]"', NULL, NULL, NULL, NULL, NULL, '[[0, 0], null]', NULL);
INSERT INTO unimodal.log VALUES (9, 58, 1045, 'decide', 29, '"[0, 0]"', 'forced leader', '"[0, 0]"', 2, 1, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 59, 1046, 'reward', 29, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 60, 1047, 'decide', 30, '"[1, 0]"', 'contest', '"[1, 0]"', 5, 0.2659340659359193, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 61, 1048, 'look-up', NULL, '"[0, 0]"', NULL, NULL, NULL, NULL, NULL, '[[0, 0], [[-1, 0], [1, 0], [0, -1], [0, 1]]]', NULL);
INSERT INTO unimodal.log VALUES (9, 62, 1048, 'decide', 31, '"[0, 0]"', 'contest', '"[0, 0]"', 5, 0.41666666667022684, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 63, 1049, 'reward', 31, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 64, 1050, 'expire', 12, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 65, 1050, 'decide', 32, '"[-1, 0]"', 'contest', '"[0, 0]"', 5, 0.24343434343430168, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 66, 1051, 'expire', 13, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 67, 1051, 'expire', 14, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 68, 1051, 'expire', 15, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 69, 1051, 'reward', 32, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 70, 1052, 'decide', 33, '"[-1, 0]"', 'contest', '"[0, 0]"', 5, 0.08080808142582009, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 71, 1053, 'decide', 34, '"[1, 0]"', 'contest', '"[0, 0]"', 5, 0.20303030305831923, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 72, 1054, 'reward', 34, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 73, 1055, 'decide', 35, '"[0, 0]"', 'forced leader', '"[0, 0]"', 5, 1, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 74, 1056, 'reward', 35, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 75, 1057, 'expire', 18, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 76, 1057, 'decide', 36, '"[1, 1]"', 'contest', '"[1, 1]"', 5, 0.30500947451302196, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 77, 1058, 'decide', 37, '"[-1, 0]"', 'contest', '"[0, 0]"', 5, 0.11867021872591287, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 78, 1059, 'reward', 37, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 79, 1060, 'look-up', NULL, '"[-1, 0]"', NULL, NULL, NULL, NULL, NULL, '[[-1, 0], [[-2, 0], [0, 0], [-1, -1], [-1, 1]]]', NULL);
INSERT INTO unimodal.log VALUES (9, 80, 1060, 'decide', 38, '"[-1, 0]"', 'forced leader', '"[-1, 0]"', 5, 1, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 81, 1061, 'reward', 38, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 82, 1062, 'expire', 21, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 83, 1062, 'decide', 39, '"[-1, -1]"', 'contest', '"[-1, 0]"', 5, 0.21717171717169603, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 84, 1063, 'decide', 40, '"[-1, 1]"', 'contest', '"[-1, 0]"', 5, 0.21717171717169603, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 85, 1064, 'reward', 40, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 86, 1115, 'expire', 24, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 87, 1115, 'expire', 27, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 88, 1115, 'expire', 30, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 89, 1115, 'expire', 33, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 90, 1115, 'expire', 36, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 91, 1115, 'expire', 39, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 92, 1115, 'look-up', NULL, '"[-1, 1]"', NULL, NULL, NULL, NULL, NULL, '[[-1, 1], [[-2, 1], [0, 1], [-1, 0], [-1, 2]]]', NULL);
INSERT INTO unimodal.log VALUES (9, 93, 1115, 'decide', 41, '"[-1, 1]"', 'forced leader', '"[-1, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 94, 1116, 'reward', 41, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 95, 1117, 'decide', 42, '"[-1, -1]"', 'contest', '"[-1, 0]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 96, 1118, 'decide', 43, '"[-1, 0]"', 'contest', '"[0, 0]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 97, 1119, 'reward', 43, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 98, 1120, 'decide', 44, '"[-1, 2]"', 'contest', '"[-1, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 99, 1121, 'reward', 44, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 100, 1122, 'decide', 45, '"[-2, 1]"', 'contest', '"[-1, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 101, 1123, 'decide', 46, '"[0, 1]"', 'contest', '"[0, 0]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 102, 1124, 'reward', 46, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 103, 1125, 'look-up', NULL, '"[0, 1]"', NULL, NULL, NULL, NULL, NULL, '[[0, 1], [[-1, 1], [1, 1], [0, 0], [0, 2]]]', NULL);
INSERT INTO unimodal.log VALUES (9, 104, 1125, 'decide', 47, '"[0, 1]"', 'forced leader', '"[0, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 105, 1126, 'reward', 47, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 106, 1127, 'decide', 48, '"[0, 1]"', 'contest', '"[0, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 107, 1128, 'decide', 49, '"[0, 1]"', 'contest', '"[0, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 108, 1129, 'reward', 49, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 109, 1130, 'decide', 50, '"[0, 1]"', 'contest', '"[0, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 110, 1131, 'reward', 50, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 111, 1132, 'tell', NULL, '"[2, 1]"', NULL, NULL, NULL, NULL, 1, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 112, 1134, 'decide', 51, '"[0, 1]"', 'contest', '"[0, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 113, 1135, 'decide', 52, '"[0, 1]"', 'forced leader', '"[0, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 114, 1136, 'reward', 52, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 115, 1137, 'decide', 53, '"[0, 1]"', 'contest', '"[0, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 116, 1138, 'reward', 53, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 117, 1139, 'decide', 54, '"[0, 0]"', 'contest', '"[0, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 118, 1140, 'decide', 55, '"[0, 1]"', 'contest', '"[0, 1]"', 5, NULL, NULL, NULL, NULL);
INSERT INTO unimodal.log VALUES (9, 119, 1141, 'reward', 55, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO unimodal.rewards VALUES (2, 1, 0);
INSERT INTO unimodal.rewards VALUES (2, 2, 0);
INSERT INTO unimodal.rewards VALUES (2, 4, 0);
INSERT INTO unimodal.rewards VALUES (2, 5, 0);
INSERT INTO unimodal.rewards VALUES (2, 7, 1);
INSERT INTO unimodal.rewards VALUES (2, 8, 1);
INSERT INTO unimodal.rewards VALUES (2, 10, 1);
INSERT INTO unimodal.rewards VALUES (2, 11, 0);
INSERT INTO unimodal.rewards VALUES (2, 13, 0);
INSERT INTO unimodal.rewards VALUES (2, 14, 0);
INSERT INTO unimodal.rewards VALUES (2, 16, 1);
INSERT INTO unimodal.rewards VALUES (2, 17, 1);
INSERT INTO unimodal.rewards VALUES (2, 25, 0);
INSERT INTO unimodal.rewards VALUES (2, 26, 1);
INSERT INTO unimodal.rewards VALUES (2, 28, 1);
INSERT INTO unimodal.rewards VALUES (2, 29, 1);
INSERT INTO unimodal.rewards VALUES (2, 31, 0);
INSERT INTO unimodal.rewards VALUES (2, 32, 0);
INSERT INTO unimodal.rewards VALUES (2, 34, 0);
INSERT INTO unimodal.rewards VALUES (2, 35, 0);
INSERT INTO unimodal.rewards VALUES (2, 37, 1);
INSERT INTO unimodal.rewards VALUES (3, 1, 0);
INSERT INTO unimodal.rewards VALUES (3, 2, 0);
INSERT INTO unimodal.rewards VALUES (3, 4, 0);
INSERT INTO unimodal.rewards VALUES (3, 5, 0);
INSERT INTO unimodal.rewards VALUES (3, 7, 1);
INSERT INTO unimodal.rewards VALUES (3, 8, 1);
INSERT INTO unimodal.rewards VALUES (3, 10, 1);
INSERT INTO unimodal.rewards VALUES (3, 11, 0);
INSERT INTO unimodal.rewards VALUES (3, 13, 0);
INSERT INTO unimodal.rewards VALUES (3, 14, 0);
INSERT INTO unimodal.rewards VALUES (3, 16, 1);
INSERT INTO unimodal.rewards VALUES (3, 17, 1);
INSERT INTO unimodal.rewards VALUES (3, 25, 0);
INSERT INTO unimodal.rewards VALUES (3, 26, 1);
INSERT INTO unimodal.rewards VALUES (3, 28, 1);
INSERT INTO unimodal.rewards VALUES (3, 29, 1);
INSERT INTO unimodal.rewards VALUES (3, 31, 0);
INSERT INTO unimodal.rewards VALUES (3, 32, 0);
INSERT INTO unimodal.rewards VALUES (3, 34, 0);
INSERT INTO unimodal.rewards VALUES (3, 35, 0);
INSERT INTO unimodal.rewards VALUES (3, 37, 1);
INSERT INTO unimodal.rewards VALUES (3, 38, 1);
INSERT INTO unimodal.rewards VALUES (3, 40, 1);
INSERT INTO unimodal.rewards VALUES (3, 41, 0);
INSERT INTO unimodal.rewards VALUES (3, 43, 0);
INSERT INTO unimodal.rewards VALUES (3, 44, 0);
INSERT INTO unimodal.rewards VALUES (3, 46, 1);
INSERT INTO unimodal.rewards VALUES (3, 47, 1);
INSERT INTO unimodal.rewards VALUES (3, 49, 1);
INSERT INTO unimodal.rewards VALUES (3, 50, 1);
INSERT INTO unimodal.rewards VALUES (3, 52, 0);
INSERT INTO unimodal.rewards VALUES (3, 53, 0);
INSERT INTO unimodal.rewards VALUES (4, 1, 0);
INSERT INTO unimodal.rewards VALUES (4, 2, 0);
INSERT INTO unimodal.rewards VALUES (4, 4, 0);
INSERT INTO unimodal.rewards VALUES (4, 5, 0);
INSERT INTO unimodal.rewards VALUES (4, 7, 1);
INSERT INTO unimodal.rewards VALUES (4, 8, 1);
INSERT INTO unimodal.rewards VALUES (4, 10, 1);
INSERT INTO unimodal.rewards VALUES (4, 11, 0);
INSERT INTO unimodal.rewards VALUES (4, 13, 0);
INSERT INTO unimodal.rewards VALUES (4, 14, 0);
INSERT INTO unimodal.rewards VALUES (4, 16, 1);
INSERT INTO unimodal.rewards VALUES (4, 17, 1);
INSERT INTO unimodal.rewards VALUES (4, 71, 0);
INSERT INTO unimodal.rewards VALUES (4, 26, 1);
INSERT INTO unimodal.rewards VALUES (4, 28, 1);
INSERT INTO unimodal.rewards VALUES (4, 29, 1);
INSERT INTO unimodal.rewards VALUES (4, 31, 0);
INSERT INTO unimodal.rewards VALUES (4, 32, 0);
INSERT INTO unimodal.rewards VALUES (4, 34, 0);
INSERT INTO unimodal.rewards VALUES (4, 35, 0);
INSERT INTO unimodal.rewards VALUES (4, 37, 1);
INSERT INTO unimodal.rewards VALUES (4, 38, 1);
INSERT INTO unimodal.rewards VALUES (4, 40, 1);
INSERT INTO unimodal.rewards VALUES (4, 41, 0);
INSERT INTO unimodal.rewards VALUES (4, 43, 0);
INSERT INTO unimodal.rewards VALUES (4, 44, 0);
INSERT INTO unimodal.rewards VALUES (4, 46, 1);
INSERT INTO unimodal.rewards VALUES (4, 47, 1);
INSERT INTO unimodal.rewards VALUES (4, 49, 1);
INSERT INTO unimodal.rewards VALUES (4, 50, 1);
INSERT INTO unimodal.rewards VALUES (4, 52, 0);
INSERT INTO unimodal.rewards VALUES (4, 53, 0);
INSERT INTO unimodal.rewards VALUES (4, 55, 0);
INSERT INTO unimodal.rewards VALUES (4, 56, 1);
INSERT INTO unimodal.rewards VALUES (4, 58, 1);
INSERT INTO unimodal.rewards VALUES (4, 59, 1);
INSERT INTO unimodal.rewards VALUES (4, 61, 0);
INSERT INTO unimodal.rewards VALUES (4, 62, 0);
INSERT INTO unimodal.rewards VALUES (4, 65, 0);
INSERT INTO unimodal.rewards VALUES (4, 67, 1);
INSERT INTO unimodal.rewards VALUES (4, 68, 1);
INSERT INTO unimodal.rewards VALUES (4, 70, 1);
INSERT INTO unimodal.rewards VALUES (4, 73, 0);
INSERT INTO unimodal.rewards VALUES (4, 74, 0);
INSERT INTO unimodal.rewards VALUES (4, 76, 1);
INSERT INTO unimodal.rewards VALUES (9, 1, 0);
INSERT INTO unimodal.rewards VALUES (9, 2, 0);
INSERT INTO unimodal.rewards VALUES (9, 4, 0);
INSERT INTO unimodal.rewards VALUES (9, 5, 0);
INSERT INTO unimodal.rewards VALUES (9, 7, 1);
INSERT INTO unimodal.rewards VALUES (9, 8, 1);
INSERT INTO unimodal.rewards VALUES (9, 10, 1);
INSERT INTO unimodal.rewards VALUES (9, 11, 0);
INSERT INTO unimodal.rewards VALUES (9, 16, 1);
INSERT INTO unimodal.rewards VALUES (9, 17, 1);
INSERT INTO unimodal.rewards VALUES (9, 19, 1);
INSERT INTO unimodal.rewards VALUES (9, 20, 1);
INSERT INTO unimodal.rewards VALUES (9, 22, 0);
INSERT INTO unimodal.rewards VALUES (9, 23, 0);
INSERT INTO unimodal.rewards VALUES (9, 25, 0);
INSERT INTO unimodal.rewards VALUES (9, 26, 1);
INSERT INTO unimodal.rewards VALUES (9, 28, 1);
INSERT INTO unimodal.rewards VALUES (9, 29, 1);
INSERT INTO unimodal.rewards VALUES (9, 31, 0);
INSERT INTO unimodal.rewards VALUES (9, 32, 0);
INSERT INTO unimodal.rewards VALUES (9, 34, 0);
INSERT INTO unimodal.rewards VALUES (9, 35, 0);
INSERT INTO unimodal.rewards VALUES (9, 37, 1);
INSERT INTO unimodal.rewards VALUES (9, 38, 1);
INSERT INTO unimodal.rewards VALUES (9, 40, 1);
INSERT INTO unimodal.rewards VALUES (9, 41, 0);
INSERT INTO unimodal.rewards VALUES (9, 43, 0);
INSERT INTO unimodal.rewards VALUES (9, 44, 0);
INSERT INTO unimodal.rewards VALUES (9, 46, 1);
INSERT INTO unimodal.rewards VALUES (9, 47, 1);
INSERT INTO unimodal.rewards VALUES (9, 49, 1);
INSERT INTO unimodal.rewards VALUES (9, 50, 1);
INSERT INTO unimodal.rewards VALUES (9, 52, 0);
INSERT INTO unimodal.rewards VALUES (9, 53, 0);
INSERT INTO unimodal.rewards VALUES (9, 55, 0);
INSERT INTO unimodal.schema_version VALUES (1, true);
INSERT INTO unimodal.settings VALUES (2, 'policy', '{"policy": "UTS", "name": "UTS", "own": false, "parameters": {"prior": null, "period": "degree", "start": "sweep", "ties": "random"}}');
INSERT INTO unimodal.settings VALUES (2, 'graph', '{"kind": "edges", "fingerprint": "f02fceec7a4aeff3", "n_arms": 6, "edges": [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]], "labels": ["9.90", "12.90", "14.90", "16.90", "19.90", "24.90"]}');
INSERT INTO unimodal.settings VALUES (2, 'rewards', '{"family": "bernoulli"}');
INSERT INTO unimodal.settings VALUES (2, 'seed', '3');
INSERT INTO unimodal.settings VALUES (2, 'root', 'null');
INSERT INTO unimodal.settings VALUES (2, 'time_to_live', '60.0');
INSERT INTO unimodal.settings VALUES (2, 'on_expiry', '"drop"');
INSERT INTO unimodal.settings VALUES (2, 'cache', 'null');
INSERT INTO unimodal.settings VALUES (2, 'snapshots', '{"85": [1168.0, "expire", 36]}');
INSERT INTO unimodal.settings VALUES (3, 'policy', '{"policy": "UTS", "name": "UTS", "own": false, "parameters": {"prior": null, "period": "degree", "start": "sweep", "ties": "random"}}');
INSERT INTO unimodal.settings VALUES (3, 'graph', '{"kind": "edges", "fingerprint": "f02fceec7a4aeff3", "n_arms": 6, "edges": [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]], "labels": ["9.90", "12.90", "14.90", "16.90", "19.90", "24.90"]}');
INSERT INTO unimodal.settings VALUES (3, 'rewards', '{"family": "bernoulli"}');
INSERT INTO unimodal.settings VALUES (3, 'seed', '3');
INSERT INTO unimodal.settings VALUES (3, 'root', 'null');
INSERT INTO unimodal.settings VALUES (3, 'time_to_live', '60.0');
INSERT INTO unimodal.settings VALUES (3, 'on_expiry', '"drop"');
INSERT INTO unimodal.settings VALUES (3, 'cache', 'null');
INSERT INTO unimodal.settings VALUES (3, 'archived', '{"until": 85, "counts": {"decide": 32, "expire": 15, "limit": 2, "open": 1, "reward": 21, "tell": 2}, "rewards": 21, "parts": [{"first": 1, "last": 85, "digest": "34d5bac3a44f7a504e08aa73e247c3c5431228de6ec9819dc487d115e2be1d2e", "file": "archive-1.parquet"}]}');
INSERT INTO unimodal.settings VALUES (3, 'snapshots', '{"85": [1168.0, "expire", 36], "117": [1203.0, "decide", 54]}');
INSERT INTO unimodal.settings VALUES (4, 'policy', '{"policy": "UTS", "name": "UTS", "own": false, "parameters": {"prior": null, "period": "degree", "start": "sweep", "ties": "random"}}');
INSERT INTO unimodal.settings VALUES (4, 'graph', '{"kind": "edges", "fingerprint": "16fa4e55c03b9174", "n_arms": 6, "edges": [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]], "labels": ["erased-3", "12.90", "14.90", "erased-1", "19.90", "24.90"]}');
INSERT INTO unimodal.settings VALUES (4, 'rewards', '{"family": "bernoulli"}');
INSERT INTO unimodal.settings VALUES (4, 'seed', '3');
INSERT INTO unimodal.settings VALUES (4, 'root', 'null');
INSERT INTO unimodal.settings VALUES (4, 'time_to_live', '60.0');
INSERT INTO unimodal.settings VALUES (4, 'on_expiry', '"drop"');
INSERT INTO unimodal.settings VALUES (4, 'cache', 'null');
INSERT INTO unimodal.settings VALUES (4, 'archived', '{"until": 136, "counts": {"decide": 57, "expire": 16, "limit": 4, "open": 3, "reward": 38, "tell": 2, "erase": 1}, "rewards": 37, "parts": [{"first": 1, "last": 85, "digest": "f38d756ac3d1d7b0ac489b16736584f6e9a0418c55f478d76bd85ac183dec1a1", "file": "archive-1.erased-3.parquet"}, {"first": 86, "last": 136, "digest": "86aad2124c8ffc770a2c3a3e42f578dc3afd3c56c8aefd8c5378d4237cd48586", "file": "archive-2.erased-3.parquet"}]}');
INSERT INTO unimodal.settings VALUES (4, 'erased', '[{"event": 118, "arm": "erased-1", "data": false, "until": 0}, {"event": 148, "arm": "erased-2", "data": true, "until": 136}, {"event": 149, "arm": "erased-3", "data": false, "until": 0}]');
INSERT INTO unimodal.settings VALUES (4, 'snapshots', '{"136": [1219.0, "key", null], "162": [1242.0, "reward", 76]}');
INSERT INTO unimodal.settings VALUES (9, 'snapshots', '{"119": [1141.0, "reward", 55]}');
INSERT INTO unimodal.settings VALUES (9, 'policy', '{"policy": "UTS", "name": "UTS", "own": false, "parameters": {"prior": null, "period": "degree", "start": "probe(4)", "ties": "random"}}');
INSERT INTO unimodal.settings VALUES (9, 'graph', '{"kind": "look-up"}');
INSERT INTO unimodal.settings VALUES (9, 'rewards', '{"family": "bernoulli"}');
INSERT INTO unimodal.settings VALUES (9, 'seed', '5');
INSERT INTO unimodal.settings VALUES (9, 'root', '[2, 1]');
INSERT INTO unimodal.settings VALUES (9, 'time_to_live', '30.0');
INSERT INTO unimodal.settings VALUES (9, 'on_expiry', '"zero"');
INSERT INTO unimodal.settings VALUES (9, 'cache', '50');
INSERT INTO unimodal.snapshots VALUES (2, 85, '0.1.0', '{"notes":[37,6,4,3,2],"begin":[4,1,3,5,6,7],"links":{},"stream":[2696544478084360569,13991946427767372138,3733517304599363413,7278385487208375310,2368401619639208488],"columns":["arm","pulls","total","leads","successes"],"arms":[[0,4,1.0,0,0.0],[1,9,4.0,10,0.0],[2,6,3.0,5,0.0],[3,8,4.0,15,0.0],[4,3,2.0,1,0.0],[5,1,0.0,0,0.0],[7,1,0.0,0,0.0]],"seen":[],"memory":{},"decisions":{"time_to_live":60.0,"on_expiry":"drop","made":37,"now":1168.0,"open":[]},"past":{"certify":false,"arms":[[0,4,1.0],[2,5,3.0]]},"limits":{"paused":[2],"cap":[0.4,10],"recent":[1,0,1,1,1,1,1,4,4]}}');
INSERT INTO unimodal.snapshots VALUES (3, 85, '0.1.0', '{"notes":[37,6,4,3,2],"begin":[4,1,3,5,6,7],"links":{},"stream":[2696544478084360569,13991946427767372138,3733517304599363413,7278385487208375310,2368401619639208488],"columns":["arm","pulls","total","leads","successes"],"arms":[[0,4,1.0,0,0.0],[1,9,4.0,10,0.0],[2,6,3.0,5,0.0],[3,8,4.0,15,0.0],[4,3,2.0,1,0.0],[5,1,0.0,0,0.0],[7,1,0.0,0,0.0]],"seen":[],"memory":{},"decisions":{"time_to_live":60.0,"on_expiry":"drop","made":37,"now":1168.0,"open":[]},"past":{"certify":false,"arms":[[0,4,1.0],[2,5,3.0]]},"limits":{"paused":[2],"cap":[0.4,10],"recent":[1,0,1,1,1,1,1,4,4]}}');
INSERT INTO unimodal.snapshots VALUES (3, 117, '0.1.0', '{"notes":[54,6,4,4,1],"begin":[4,1,3,5,6,2],"links":{},"stream":[4415261109690323120,57986144680870768,9676930926590813858,9237295701668997664,2368401619639208488],"columns":["arm","pulls","total","leads","successes"],"arms":[[0,4,1.0,0,0.0],[1,9,4.0,10,0.0],[2,6,3.0,5,0.0],[3,13,7.0,23,0.0],[4,9,5.0,10,0.0],[5,1,0.0,0,0.0]],"seen":[],"memory":{},"decisions":{"time_to_live":60.0,"on_expiry":"drop","made":54,"now":1203.0,"open":[[39,4,1177.0],[42,4,1182.0],[45,3,1187.0],[48,3,1192.0],[51,4,1198.0],[54,4,1203.0]]},"past":{"certify":false,"arms":[[0,4,1.0],[2,5,3.0]]}}');
INSERT INTO unimodal.snapshots VALUES (4, 162, '0.1.0', '{"notes":[76,6,4,4,2],"begin":[4,1,3,5,6,2],"links":{},"stream":[6248357879188035045,10388174062228826296,10294174466290899921,15033210609269945195,2368401619639208488],"columns":["arm","pulls","total","leads","successes"],"arms":[[0,4,1.0,0,0.0],[1,9,4.0,10,0.0],[2,6,3.0,5,0.0],[3,18,9.0,23,0.0],[4,18,10.0,32,0.0],[5,1,0.0,0,0.0]],"seen":[],"memory":{},"decisions":{"time_to_live":60.0,"on_expiry":"drop","made":76,"now":1242.0,"open":[[45,3,1187.0],[48,3,1192.0],[51,4,1198.0],[54,4,1203.0],[57,4,1209.0],[60,4,1214.0],[63,4,1219.0],[64,3,1219.0],[66,4,1224.0],[69,4,1229.0],[72,4,1235.0],[75,4,1240.0]]},"past":{"certify":false,"arms":[[0,4,1.0],[2,5,3.0]]}}');
INSERT INTO unimodal.snapshots VALUES (4, 136, '0.1.0', '{"notes":[64,6,3,4,2],"begin":[4,1,3,5,6,2],"links":{},"stream":[15052545817347624254,17501487804176077619,5407541146791393236,17630359771476306912,2368401619639208488],"columns":["arm","pulls","total","leads","successes"],"arms":[[0,4,1.0,0,0.0],[1,9,4.0,10,0.0],[2,6,3.0,5,0.0],[3,15,8.0,23,0.0],[4,13,7.0,20,0.0],[5,1,0.0,0,0.0]],"seen":[],"memory":{},"decisions":{"time_to_live":60.0,"on_expiry":"drop","made":64,"now":1219.0,"open":[[39,4,1177.0],[42,4,1182.0],[45,3,1187.0],[48,3,1192.0],[51,4,1198.0],[54,4,1203.0],[57,4,1209.0],[60,4,1214.0],[63,4,1219.0],[64,3,1219.0]]},"past":{"certify":false,"arms":[[0,4,1.0],[2,5,3.0]]}}');
INSERT INTO unimodal.snapshots VALUES (9, 119, '0.1.0', '{"notes":[55,4,8,8,2],"begin":[0,1,2,3],"links":{},"stream":[10218197909033029003,8511046698245449044,673129328633172071,2186193341851829105,9115676797567112313],"columns":["arm","pulls","total","leads","successes"],"arms":[[0,6,3.0,2,0.0],[1,1,0.0,0,0.0],[2,2,0.0,0,0.0],[3,2,0.0,2,0.0],[6,13,5.0,19,0.0],[8,8,4.0,9,0.0],[9,5,1.0,3,0.0],[10,1,0.0,0,0.0],[11,4,2.0,9,0.0],[13,5,2.0,4,0.0],[16,1,0.0,0,0.0],[17,2,1.0,3,0.0],[19,1,0.0,0,0.0]],"seen":[],"memory":{},"decisions":{"time_to_live":30.0,"on_expiry":"zero","made":55,"now":1141.0,"open":[[42,16,1117.0],[45,18,1122.0],[48,8,1127.0],[51,8,1134.0],[54,11,1139.0]]},"graph":{"kind":"look-up","cache":50,"labels":[[2,1],[3,1],[2,2],[3,2],[4,2],[3,3],[1,1],[2,0],[0,1],[1,0],[1,2],[0,0],[1,-1],[-1,0],[0,-1],[-2,0],[-1,-1],[-1,1],[-2,1],[-1,2],[0,2]],"leader":[8,1152921504606846976],"rows":[[0,[0,6,1,7,2]],[3,[3,2,4,1,5]],[6,[6,8,0,9,10]],[8,[8,17,6,11,20]],[9,[9,11,7,12,6]],[11,[11,13,9,14,8]],[13,[13,15,11,16,17]],[17,[17,18,8,13,19]]],"later":[],"answers":[[[3,1],[[2,1],[4,1],[3,0],[3,2]]],[[2,2],[[1,2],[3,2],[2,1],[2,3]]],[[3,2],[[2,2],[4,2],[3,1],[3,3]]],[[2,1],[[1,1],[3,1],[2,0],[2,2]]],[[1,0],[[0,0],[2,0],[1,-1],[1,1]]],[[1,1],[[0,1],[2,1],[1,0],[1,2]]],[[-1,0],[[-2,0],[0,0],[-1,-1],[-1,1]]],[[-1,1],[[-2,1],[0,1],[-1,0],[-1,2]]],[[0,0],[[-1,0],[1,0],[0,-1],[0,1]]],[[0,1],[[-1,1],[1,1],[0,0],[0,2]]]],"checksums":[],"counts":{"look_ups":11,"failed":1,"again":0,"one_sided":0,"changed":0,"forgotten":0}}}');
SELECT pg_catalog.setval('unimodal.campaigns_id_seq', 9, true);
ALTER TABLE ONLY unimodal.campaigns
    ADD CONSTRAINT campaigns_name_key UNIQUE (name);
ALTER TABLE ONLY unimodal.campaigns
    ADD CONSTRAINT campaigns_pkey PRIMARY KEY (id);
ALTER TABLE ONLY unimodal.log
    ADD CONSTRAINT log_pkey PRIMARY KEY (campaign, seq);
ALTER TABLE ONLY unimodal.rewards
    ADD CONSTRAINT rewards_pkey PRIMARY KEY (campaign, decision);
ALTER TABLE ONLY unimodal.schema_version
    ADD CONSTRAINT schema_version_pkey PRIMARY KEY (is_the_only_row);
ALTER TABLE ONLY unimodal.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (campaign, key);
ALTER TABLE ONLY unimodal.snapshots
    ADD CONSTRAINT snapshots_pkey PRIMARY KEY (campaign, seq);
CREATE INDEX keys ON unimodal.log USING btree (campaign, data, seq) WHERE (kind = 'key'::text);
CREATE INDEX revisions ON unimodal.log USING btree (campaign, seq) WHERE (kind = 'revision'::text);
ALTER TABLE ONLY unimodal.rewards
    ADD CONSTRAINT rewards_campaign_fkey FOREIGN KEY (campaign) REFERENCES unimodal.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY unimodal.settings
    ADD CONSTRAINT settings_campaign_fkey FOREIGN KEY (campaign) REFERENCES unimodal.campaigns(id) ON DELETE CASCADE;
ALTER TABLE ONLY unimodal.snapshots
    ADD CONSTRAINT snapshots_campaign_fkey FOREIGN KEY (campaign) REFERENCES unimodal.campaigns(id) ON DELETE CASCADE;
