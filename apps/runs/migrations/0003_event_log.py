"""The database numbers, chains, fences and guards events; nothing else writes them.

`runs_append` is the only way in: one call appends a batch, or nothing. Its errors have their own
SQLSTATEs (class OM), which `apps.runs.eventlog.append` turns into errors for people.
"""

from django.db import migrations

APPEND = """
CREATE FUNCTION runs_append(
    p_run uuid, p_events jsonb, p_epoch bigint DEFAULT NULL, p_lease_ms integer DEFAULT NULL,
    p_owner uuid DEFAULT NULL, p_after bigint DEFAULT NULL
) RETURNS TABLE (seq bigint, at timestamptz, prev_hash text, hash text, replayed boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    r runs_run%ROWTYPE;
    e jsonb;
    old record;
    v_kind text; v_name text; v_key text; v_from text; v_to text; v_hash text;
    v_progress boolean := false;
    v_at timestamptz;
    v_stamp text;
BEGIN
    SELECT * INTO r FROM runs_run WHERE id = p_run FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no such run' USING ERRCODE = 'OM404';
    END IF;
    IF p_epoch IS NOT NULL AND (r.lease_epoch <> p_epoch OR r.lease_owner IS DISTINCT FROM p_owner)
    THEN
        RAISE EXCEPTION 'the lease was taken over (epoch % is not %)', p_epoch, r.lease_epoch
            USING ERRCODE = 'OM001';
    END IF;
    IF p_after IS NOT NULL AND r.last_seq <> p_after THEN
        RAISE EXCEPTION 'the run is at event %, not at %', r.last_seq, p_after
            USING ERRCODE = 'OM412';
    END IF;
    -- Behind the lock, so that the times of a run's events never run against their order.
    v_at := clock_timestamp();
    v_stamp := to_char(v_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
    FOR e IN SELECT value FROM jsonb_array_elements(p_events) LOOP
        v_kind := e->>'kind'; v_name := coalesce(e->>'name', ''); v_key := e->>'key';
        IF v_key IS NOT NULL THEN
            SELECT x.seq, x.at, x.prev_hash, x.hash, x.kind, x.name, x.payload_hash INTO old
                FROM runs_runevent x WHERE x.run_id = p_run AND x.idempotency_key = v_key;
            IF FOUND THEN
                IF (old.kind, old.name, old.payload_hash)
                   IS DISTINCT FROM (v_kind, v_name, e->>'payload_hash') THEN
                    RAISE EXCEPTION 'the idempotency key % belongs to another event', v_key
                        USING ERRCODE = 'OM422';
                END IF;
                seq := old.seq; at := old.at; prev_hash := old.prev_hash; hash := old.hash;
                replayed := true;
                RETURN NEXT;
                CONTINUE;
            END IF;
        END IF;
        IF r.ended_at IS NOT NULL AND v_name <> 'payload_erased' THEN
            RAISE EXCEPTION 'the run has ended (%)', r.status USING ERRCODE = 'OM410';
        END IF;
        IF r.cancel_requested AND (v_kind IN ('tool_call', 'assistant_message_delta')
                                   OR v_name IN ('model_call', 'child_started', 'timer_set',
                                                 'approval_requested')) THEN
            RAISE EXCEPTION 'the run is being cancelled' USING ERRCODE = 'OM499';
        END IF;
        IF v_name = 'state_changed' THEN
            v_from := e->'payload'->>'from'; v_to := e->'payload'->>'to';
            IF v_from <> r.status OR NOT EXISTS (
                SELECT 1 FROM runs_transition t WHERE t.before = v_from AND t.after = v_to) THEN
                RAISE EXCEPTION 'a run that is % cannot go from % to %', r.status, v_from, v_to
                    USING ERRCODE = 'OM409';
            END IF;
            r.status := v_to;
            IF v_to IN ('done', 'failed', 'cancelled') THEN
                r.ended_at := v_at; r.due_at := NULL;
            END IF;
        ELSIF v_name = 'cancel_requested' THEN
            r.cancel_requested := true;
        END IF;
        -- Taking a run up again is no progress, else one that kills its workers lives for ever.
        v_progress := v_progress OR (v_name <> 'lease_taken' AND NOT
            (v_name = 'state_changed' AND r.status = 'running'));
        r.last_seq := r.last_seq + 1;
        -- Canonical JSON (RFC 8785) by hand: keys sorted, every value a plain string or integer.
        v_hash := encode(sha256(convert_to(
            '{"actor":' || to_json(e->>'actor')::text || ',"at":"' || v_stamp
            || '","kind":"' || v_kind || '","name":"' || v_name
            || '","payload_hash":"' || (e->>'payload_hash') || '","prev_hash":"' || r.tip_hash
            || '","run_id":"' || p_run || '","schema_version":' || (e->>'version')
            || ',"seq":' || r.last_seq || '}', 'UTF8')), 'hex');
        INSERT INTO runs_runevent (run_id, seq, kind, name, payload, payload_hash, prev_hash, hash,
                                   actor, at, schema_version, idempotency_key)
            VALUES (p_run, r.last_seq, v_kind, v_name, e->'payload', e->>'payload_hash',
                    r.tip_hash, v_hash, e->>'actor', v_at, (e->>'version')::smallint, v_key);
        seq := r.last_seq; at := v_at; prev_hash := r.tip_hash; hash := v_hash;
        replayed := false;
        r.tip_hash := v_hash;
        RETURN NEXT;
    END LOOP;
    IF p_epoch IS NULL AND r.ended_at IS NULL THEN
        r.due_at := v_at;  -- somebody else than its driver wrote: a worker must look
    END IF;
    UPDATE runs_run SET status = r.status, last_seq = r.last_seq, tip_hash = r.tip_hash,
        cancel_requested = r.cancel_requested, ended_at = r.ended_at, due_at = r.due_at,
        attempts = CASE WHEN p_epoch IS NOT NULL AND v_progress THEN 0 ELSE attempts END,
        lease_until = CASE WHEN p_lease_ms IS NULL THEN lease_until
                           ELSE v_at + make_interval(secs => p_lease_ms / 1000.0) END
        WHERE id = p_run;
END
$$;
"""

GUARD = """
CREATE TABLE runs_transition (
    before text NOT NULL, after text NOT NULL, PRIMARY KEY (before, after));
INSERT INTO runs_transition VALUES
    ('queued', 'running'), ('running', 'waiting_permission'), ('waiting_permission', 'running'),
    ('running', 'done'),
    ('queued', 'failed'), ('running', 'failed'), ('waiting_permission', 'failed'),
    ('queued', 'cancelled'), ('running', 'cancelled'), ('waiting_permission', 'cancelled');

CREATE FUNCTION runs_guard_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- The one change that is let through: a payload goes, after the log says that it goes.
    IF TG_OP = 'UPDATE' AND NEW.payload IS NULL AND OLD.name <> 'payload_erased'
       AND to_jsonb(NEW) - 'payload' = to_jsonb(OLD) - 'payload'
       AND EXISTS (SELECT 1 FROM runs_runevent x WHERE x.run_id = OLD.run_id
                   AND x.name = 'payload_erased' AND (x.payload->>'seq')::bigint = OLD.seq) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of % is refused: it is append-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER event_append_only BEFORE UPDATE OR DELETE ON runs_runevent
    FOR EACH ROW EXECUTE FUNCTION runs_guard_event();
CREATE TRIGGER event_no_truncate BEFORE TRUNCATE ON runs_runevent
    FOR EACH STATEMENT EXECUTE FUNCTION runs_guard_event();
"""

BACKWARDS = """
DROP FUNCTION runs_append;
DROP TRIGGER event_no_truncate ON runs_runevent;
DROP TRIGGER event_append_only ON runs_runevent;
DROP FUNCTION runs_guard_event;
DROP TABLE runs_transition;
"""


class Migration(migrations.Migration):
    dependencies = [("runs", "0002_runs_and_events")]
    operations = [migrations.RunSQL(GUARD + APPEND, BACKWARDS)]
