import { refuse } from "../storage/contract.ts";
import { onAbort, throwIfAborted } from "../util/abort-signals.ts";
import { attempt, isFunction, propertyOf } from "../util/foreign.ts";

/** The methods that the SDK uses of a `Pool` or `Client` of the package `pg` (8 or newer), and of a `PGlite`. */
export interface PgClient {
  query(text: string, values: (string | null)[]): Promise<{ readonly rows: readonly unknown[] }>;
  getTransactionStatus?(): string | null;
}

/** The methods that the SDK uses of the `sql` of the package `postgres` (3 or newer). */
export interface PostgresJs {
  unsafe(text: string, values: (string | null)[]): PromiseLike<readonly unknown[]>;
}

/** A client of Postgres. The SDK never opens or closes its connections. */
export type PostgresClient = PgClient | PostgresJs;

/** The parameters of a statement. All are strings, which every client passes unchanged, whatever its settings. */
export type Values = (string | null)[];

/** Sends statements through a client of any of the packages. */
export interface StatementSender {
  /** Sends one statement, and resolves to its rows. */
  readonly send: (text: string, values: Values, signal: AbortSignal) => Promise<readonly unknown[]>;
  /** Whether the client has a single connection, which runs one statement at a time. */
  readonly isSingle: boolean;
}

const insideTransaction =
  "is inside a transaction: a rollback would undo what the storage noted. Pass the pool itself, or a client of its own";

/**
 * Hides the differences between the packages.
 *
 * @throws `ConfigurationError` if the client is of a package that the SDK does not know, or belongs to a transaction.
 */
export function senderOf(client: PostgresClient): StatementSender {
  const has = (name: string) => isFunction(propertyOf(client, name));
  if (!has("unsafe") && !has("query")) {
    refuse(["client"], "expected a `Pool` or `Client` of `pg`, the `sql` of `postgres`, or a `PGlite`");
  }
  // The objects that postgres.js and PGlite pass to the callback of a transaction.
  if (has("savepoint") || has("rollback")) refuse(["client"], insideTransaction);
  return {
    // A pool of `pg` has `connect`, too.
    isSingle: !has("unsafe") && has("connect") && propertyOf(client, "totalCount") === undefined,
    send: async (text, values, signal) => {
      throwIfAborted(signal);
      // The clients read the parameters when they send a statement. With null as the key, a statement that still waits changes nothing.
      const stopListening = onAbort(signal, () => void values.fill(null));
      try {
        return await rowsOf(client, text, values);
      } finally {
        stopListening();
      }
    },
  };
}

async function rowsOf(client: PostgresClient, text: string, values: Values): Promise<readonly unknown[]> {
  if ("unsafe" in client) return client.unsafe(text, values);
  // `I` is idle, `T` and `E` are inside a transaction. A pool, and `pg` before 8.17, do not report it.
  const status = attempt(() => client.getTransactionStatus?.());
  if (status === "T" || status === "E") refuse(["client"], insideTransaction);
  return (await client.query(text, values)).rows;
}
