"""A short way into the log for a driver's ordinary step: one event behind the one it knows.

`runs_append_next` decides nothing. It writes only when the lease, the last event and its hash are
what the driver believes and the event changes nothing else in the run's row; otherwise it answers
NULL, and `runs_append` says what is to be said.
"""

from django.db import migrations

APPEND_NEXT = """
CREATE FUNCTION runs_append_next(
    p_run uuid, p_event jsonb, p_epoch bigint, p_lease_ms integer, p_owner uuid, p_seq bigint,
    p_prev_hash text, OUT o_at timestamptz, OUT o_hash text
) LANGUAGE plpgsql AS $$
DECLARE
    -- Read ahead of the lock, and still later than the event before: the driver knows that one,
    -- so it was committed when this began.
    v_at timestamptz := clock_timestamp();
    v_hash text := encode(sha256(convert_to(
        '{"actor":' || to_json(p_event->>'actor')::text
        || ',"at":"' || to_char(v_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
        || '","kind":"' || (p_event->>'kind') || '","name":"' || (p_event->>'name')
        || '","payload_hash":"' || (p_event->>'payload_hash') || '","prev_hash":"' || p_prev_hash
        || '","run_id":"' || p_run || '","schema_version":' || (p_event->>'version')
        || ',"seq":' || p_seq || '}', 'UTF8')), 'hex');
BEGIN
    UPDATE runs_run SET last_seq = p_seq, tip_hash = v_hash, attempts = 0,
        lease_until = v_at + make_interval(secs => p_lease_ms / 1000.0)
        WHERE id = p_run AND lease_epoch = p_epoch AND lease_owner = p_owner
            AND last_seq = p_seq - 1 AND tip_hash = p_prev_hash
            AND NOT cancel_requested AND ended_at IS NULL
            AND p_event->>'name' NOT IN ('state_changed', 'cancel_requested', 'lease_taken');
    IF FOUND THEN
        INSERT INTO runs_runevent (run_id, seq, kind, name, payload, payload_hash, prev_hash, hash,
                                   actor, at, schema_version, idempotency_key)
            VALUES (p_run, p_seq, p_event->>'kind', p_event->>'name', p_event->'payload',
                    p_event->>'payload_hash', p_prev_hash, v_hash, p_event->>'actor', v_at,
                    (p_event->>'version')::smallint, p_event->>'key');
        o_at := v_at; o_hash := v_hash;
    END IF;
END
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("runs", "0003_event_log")]
    operations = [migrations.RunSQL(APPEND_NEXT, "DROP FUNCTION runs_append_next")]
