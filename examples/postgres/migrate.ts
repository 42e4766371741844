/** Creates the tables, the view for operators and the queue. Run it with your other migrations: `node migrate.ts`. */
import { postgresStorage } from "pod-partner/postgres";
import { boss, pool } from "./database.ts";

await pool.query(`
  CREATE TABLE IF NOT EXISTS orders (
    id        text PRIMARY KEY,
    content   jsonb NOT NULL,
    state     text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'placing', 'placed', 'refused')),
    tries     integer NOT NULL DEFAULT 0,
    reference text,
    error     jsonb,
    changed   timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX IF NOT EXISTS orders_stuck ON orders (changed) WHERE state <> 'placed';
  CREATE TABLE IF NOT EXISTS progress (
    reference text PRIMARY KEY,
    status    text,
    on_hold   text,
    shipped   integer NOT NULL,
    is_open   boolean NOT NULL
  );
  CREATE OR REPLACE VIEW order_states AS
    SELECT id, state, tries, changed, error ->> 'name' AS error, error ->> 'code' AS code, error ->> 'hint' AS hint,
      error ->> 'message' AS message, reference, status, on_hold, shipped, is_open
    FROM orders LEFT JOIN progress USING (reference)`);

await postgresStorage(pool).migrate();

const settings = {
  heartbeatSeconds: 10, // the least: a job whose worker was killed is free after that
  retryLimit: 1_000_000, // an outage refuses no order
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 60,
  retentionSeconds: 365 * 86_400, // by default, a job that waits is deleted after 14 days
  deleteAfterSeconds: 86_400, // of a finished job: the table of orders knows what became of it
};
await boss.createQueue("place", settings);
await boss.updateQueue("place", settings); // one that exists
await boss.stop();
await pool.end();
