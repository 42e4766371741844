/**
 * A storage in Postgres.
 *
 * @module pod-partner/postgres
 */

import { Buffer } from "node:buffer";
import * as z from "zod/mini";
import { checkedConfiguration } from "../schemas/check.ts";
import { type KeyValueStorage, lifetimeOf, organizationName } from "../storage/contract.ts";
import type { PostgresClient } from "./client.ts";
import { PostgresConnection } from "./connection.ts";
import { fromColumn, page, tableOf, toColumn } from "./table.ts";

export type { KeyValueStorage } from "../storage/contract.ts";
export type { PgClient, PostgresClient, PostgresJs } from "./client.ts";

/** Options of {@link postgresStorage}. */
export interface PostgresStorageOptions {
  /** A name for the organization; see {@link KeyValueStorage.organization}. */
  readonly organization?: string | undefined;
  /**
   * The table: `name` or `schema.name`. Small and capital letters differ. Default `pod_partner_storage`, in the first schema of the
   * `search_path`.
   */
  readonly table?: string | undefined;
}

/** A storage in Postgres. */
export interface PostgresStorage extends KeyValueStorage {
  /**
   * Creates the table and its index if they do not exist. Any number of processes can call it at the same time. The file
   * `pod-partner/postgres.sql` has the same statements.
   */
  migrate(): Promise<void>;
}

const postgresOptions = () => z.strictObject({ organization: organizationName(), table: z.optional(z.string()) });

/** The number of changes between two sweeps. A sweep deletes more values than that, so expired values never pile up. */
const sweepEvery = 32;

/**
 * Remembers in Postgres (11 or newer), for all processes of an organization on any machine.
 *
 * Each operation is one statement in its own transaction, and values expire by the clock of the database. It uses no session state (no
 * prepared statements, locks or settings), so it works behind PgBouncer, also in transaction mode. An operation fails after five seconds,
 * including its wait for a connection.
 *
 * @param client A `Pool` or a connected `Client` of `pg` (8 or newer), the `sql` of `postgres` (3 or newer), or a `PGlite`. The SDK does
 *   not close it. It must not be inside a transaction, because a rollback would undo what the storage noted.
 * @throws `ConfigurationError` if `client` is another object, or an option is invalid. While there is no table, operations reject with it.
 * @example
 * const pool = new Pool({ connectionString: url });
 * const storage = postgresStorage(pool);
 * await storage.migrate();
 * const partner = new PodPartner({ baseUrl, secretKey, storage });
 */
export function postgresStorage(client: PostgresClient, options: PostgresStorageOptions = {}): PostgresStorage {
  const { organization, table: named } = checkedConfiguration(postgresOptions, options, "storage");
  const { name, creations, sql } = tableOf(named);
  const connection = new PostgresConnection(client, name);
  let changes = 0;
  return {
    kind: "postgres",
    organization,
    async get(key) {
      const [value] = await connection.operate(key, (run) => run(sql.get, toColumn(key)));
      return value === undefined ? undefined : fromBase64(String(value));
    },
    async set(key, value, { ttl, expected } = {}) {
      const row = [toColumn(key), toBase64(value), lifetimeOf(ttl)?.toFixed() ?? null];
      if (expected) row.push(toBase64(expected));
      const statement = expected ? sql.swap : expected === null ? sql.add : sql.set;
      const changed = await connection.operate(key, async (run) => {
        if (changes++ % sweepEvery === 0) await run(sql.sweep, toColumn(key));
        return run(statement, ...row);
      });
      return changed.length > 0;
    },
    async delete(key, { expected } = {}) {
      if (expected === null) return false;
      const row = [toColumn(key), ...(expected ? [toBase64(expected)] : [])];
      const statement = expected ? sql.deleteHeld : sql.delete;
      return (await connection.operate(key, (run) => run(statement, ...row))).length > 0;
    },
    async *keys(prefix) {
      // No key contains the last character of ASCII. A key with a space added is the next possible key.
      const to = `${toColumn(prefix)}\u007f`;
      for (let from = toColumn(prefix); ; ) {
        const found = await connection.operate("", (run) => run(sql.keys, from, to));
        for (const column of found) yield fromColumn(String(column));
        if (found.length < page) return;
        from = `${found.at(-1)} `;
      }
    },
    migrate: () =>
      connection.operate("", async (run) => {
        for (const { name, create } of creations) {
          // `IF NOT EXISTS` alone sends a notice, which some clients print, and needs the permission to create even if the table exists.
          const [existing] = await run("SELECT to_regclass($1::text)::text", name);
          if (existing === null) await run(create);
        }
      }),
  };
}

/** Encodes the bytes at once, because the caller may change them later. */
const toBase64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64");

/** Decodes the base64 of Postgres, which has lines of 76 characters. */
function fromBase64(text: string): Uint8Array {
  const { buffer, byteOffset, byteLength } = Buffer.from(text, "base64");
  return new Uint8Array(buffer, byteOffset, byteLength);
}
