/** Places the orders of a table of your Postgres, each once, without a queue library. Start as many as you like. */
import { setTimeout } from "node:timers/promises";
import { Pool } from "pg";
import { type IdentifiedOrderInput, PodPartner, PodPartnerError } from "pod-partner";
import { postgresStorage } from "pod-partner/postgres";

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
const storage = postgresStorage(pool); // says what another worker has sent, also after a kill
const partner = new PodPartner({ storage }); // reads POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY
await storage.migrate();
// Your shop inserts (id, content) in the transaction of the payment. The lock: of two that make one table at a time, Postgres refuses one.
await pool.query(`SELECT pg_advisory_xact_lock(1); CREATE TABLE IF NOT EXISTS order_jobs (id text PRIMARY KEY, content jsonb
  NOT NULL, state text NOT NULL DEFAULT 'waiting', due timestamptz NOT NULL DEFAULT now(), tries int NOT NULL DEFAULT 0,
  reference text, error jsonb)`);

/** The row stays locked until COMMIT, so no other worker takes it. Postgres unlocks it at once when this process dies. */
const next = `SELECT id, content, tries FROM order_jobs WHERE state = 'waiting' AND due <= now()
  ORDER BY due LIMIT 1 FOR UPDATE SKIP LOCKED`;
const done = "UPDATE order_jobs SET state = 'placed', reference = $2, error = NULL WHERE id = $1";
const failed = `UPDATE order_jobs SET state = $2, error = $3, tries = tries + 1,
  due = now() + least(power(2, tries), 600) * interval '1 second' WHERE id = $1`;
const ofSettings = ["AuthenticationError", "PermissionDeniedError", "ConfigurationError"]; // not the order's fault

async function place(order: IdentifiedOrderInput): Promise<readonly [sql: string, ...values: unknown[]]> {
  try {
    const { reference } = await partner.orders.ensure(order, { deadline: 60_000 });
    return [done, reference];
  } catch (error) {
    const { name, code, hint, message } = error as PodPartnerError;
    const isFinal = PodPartnerError.isInstance(error) && !error.isRetryable && !ofSettings.includes(name);
    return [failed, isFinal ? "refused" : "waiting", JSON.stringify({ name, code, hint, message })];
  }
}

/** Places the next order. Resolves to false when there is none. */
async function work(): Promise<boolean> {
  const client = await pool.connect();
  client.on("error", () => undefined); // Postgres ended the connection: the next query rejects. Without a listener, the process ends
  try {
    await client.query("BEGIN");
    const [job] = (await client.query(next)).rows;
    const [sql, ...values] = job === undefined ? [""] : await place({ ...job.content, customIdentifier: job.id });
    if (sql !== "") await client.query(sql, [job.id, ...values]);
    await client.query("COMMIT");
    if (sql !== "") console.log(job.id, sql === done ? "placed" : "failed", ...values);
    return sql !== "";
  } finally {
    client.release(true); // a new connection for each: a broken one is not used again
  }
}

let isEnding = false;
process.once("SIGTERM", () => (isEnding = true));
while (!isEnding) {
  const worked = await work().catch((error: Error) => console.error(error.message)); // Postgres is away: again in a second
  if (!worked) await setTimeout(1_000);
}
await pool.end();
