import { Pool } from "pg";
import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import {
  type PostgresServer,
  pgbouncerInstalled,
  postgresInstalled,
  startPgBouncer,
  startPostgres,
} from "./postgres.ts";

/** Whether tests on Postgres are skipped: on a machine without it, but not in CI. */
export const withoutPostgres = !(postgresInstalled && pgbouncerInstalled) && !process.env.CI;

export const describeWithPostgres = describe.skipIf(withoutPostgres);

/** The table of every test. */
export const table = "pod_partner_storage";

/** One Postgres, a PgBouncer before it and a pool for the tests of a file; the table is empty before each test. */
export function usePostgres() {
  let server: PostgresServer | undefined;
  let bouncer: Awaited<ReturnType<typeof startPgBouncer>> | undefined;
  let pool: Pool | undefined;

  beforeAll(async () => {
    server = await startPostgres();
    bouncer = await startPgBouncer(server);
    pool = new Pool({ connectionString: server.url });
    pool.on("error", () => undefined);
    const { postgresStorage } = await import("pod-partner/postgres");
    await postgresStorage(pool).migrate();
  });
  beforeEach(async () => {
    await pool?.query(`TRUNCATE ${table}`);
  });
  afterAll(async () => {
    await pool?.end();
    await bouncer?.kill();
    await server?.kill();
  });

  const started = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("usePostgres() works only inside a test");
    return value;
  };
  return {
    get server() {
      return started(server);
    },
    get bouncer() {
      return started(bouncer);
    },
    get pool() {
      return started(pool);
    },
  };
}
