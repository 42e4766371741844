import { shorten } from "../errors/base.ts";
import { refuse } from "../storage/contract.ts";

/** The default of the option `table`. */
const defaultName = "pod_partner_storage";

/** Postgres cuts longer names, and the index has a longer one than the table. */
const maxNameLength = 63 - "_until".length;
const name = `[A-Za-z_][A-Za-z0-9_]{0,${maxNameLength - 1}}`;
const names = new RegExp(`^(?:(${name})\\.)?(${name})$`);

/** Keys in one page of `keys`, and expired values that one sweep deletes. */
export const page = 500;
const swept = 64;

/**
 * Reads the option `table`: the quoted name of the table, the statements that create it and its index, and those of the operations.
 *
 * @throws `ConfigurationError` if it is not a name, or a name with a schema.
 */
export function tableOf(given: string = defaultName) {
  const [, schema, name = ""] = (typeof given === "string" && names.exec(given)) || refuseName(given);
  const inSchema = (name: string) => (schema === undefined ? `"${name}"` : `"${schema}"."${name}"`);
  const table = inSchema(name);
  const index = `${name}_until`;
  return {
    name: table,
    // Each with its name, to find out whether it exists.
    creations: [
      {
        name: table,
        // With the collation "C", keys with the same prefix are neighbours in the index.
        create: `CREATE TABLE IF NOT EXISTS ${table} (
  key text COLLATE "C" PRIMARY KEY,
  value bytea NOT NULL,
  until timestamptz
)`,
      },
      {
        name: inSchema(index),
        create: `CREATE INDEX IF NOT EXISTS "${index}" ON ${table} (until) WHERE until IS NOT NULL`,
      },
    ],
    sql: statementsOn(table),
  };
}

function refuseName(given: unknown): never {
  const expected = `letters, digits and "_", at most ${maxNameLength} of them`;
  const shown = typeof given === "string" ? shorten(JSON.stringify(given)) : typeof given;
  return refuse(["table"], `expected "name" or "schema.name" of ${expected}; received ${shown}`);
}

/**
 * The statements of a storage. Each operation is one of them, and so a transaction.
 *
 * The parameters are the key, the value, its lifetime in milliseconds, and the expected value. Bytes are sent as base64. `clock_timestamp()` is
 * the time when the row is read or changed, even after a wait for another change. With null as the key, a statement changes nothing.
 */
function statementsOn(table: string) {
  const [value, expected] = ["decode($2::text, 'base64')", "decode($4::text, 'base64')"];
  const until = "clock_timestamp() + $3::text::float8 * interval '1 millisecond'";
  const alive = "(t.until IS NULL OR t.until > clock_timestamp())";
  const upsert = `INSERT INTO ${table} AS t (key, value, until) SELECT $1::text, ${value}, ${until} WHERE $1::text IS NOT NULL
  ON CONFLICT (key) DO UPDATE SET value = excluded.value, until = excluded.until`;
  return {
    get: `SELECT encode(t.value, 'base64') FROM ${table} AS t WHERE t.key = $1::text AND ${alive}`,
    set: `${upsert} RETURNING 1`,
    add: `${upsert} WHERE t.until <= clock_timestamp() RETURNING 1`,
    swap: `UPDATE ${table} AS t SET value = ${value}, until = ${until}
  WHERE t.key = $1::text AND t.value = ${expected} AND ${alive} RETURNING 1`,
    delete: `DELETE FROM ${table} AS t WHERE t.key = $1::text AND ${alive} RETURNING 1`,
    deleteHeld: `DELETE FROM ${table} AS t WHERE t.key = $1::text AND t.value = decode($2::text, 'base64') AND ${alive} RETURNING 1`,
    keys: `SELECT t.key FROM ${table} AS t WHERE t.key >= $1::text AND t.key < $2::text AND ${alive} ORDER BY t.key LIMIT ${page}`,
    // Skips rows that another process is changing or sweeping. `statement_timestamp()` is constant, so the index can be used. The parameter,
    // the key that is set next, is there because postgres.js pipelines a statement without one, which PgBouncer before 1.21 confuses.
    sweep: `DELETE FROM ${table} WHERE key = ANY (ARRAY(SELECT key FROM ${table}
  WHERE until <= statement_timestamp() AND key <> $1::text ORDER BY until LIMIT ${swept} FOR UPDATE SKIP LOCKED))`,
  };
}

/** The text of the file `postgres.sql`: what {@link PostgresStorage.migrate} runs for the default table. */
export const migration =
  (): string => `-- The table of \`postgresStorage\` of pod-partner: what \`storage.migrate()\` runs.
-- For another name, change it here, and pass it as the option \`table\`.
${tableOf()
  .creations.map(({ create }) => `${create};`)
  .join("\n")}
`;

/** Encodes a key, because text in Postgres has no null character. Printable ASCII stays as it is, except for `%`. */
export const toColumn = (key: string): string =>
  key.replace(/[^ -$&-~]/g, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

export const fromColumn = (column: string): string =>
  column.replace(/%([0-9a-f]{4})/g, (_, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)));
