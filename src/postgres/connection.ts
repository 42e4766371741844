import { throwIfAborted } from "../util/abort-signals.ts";
import { systemClock } from "../util/clock.ts";
import { withTimeout } from "../util/with-timeout.ts";
import { type PostgresClient, type StatementSender, senderOf, type Values } from "./client.ts";
import { explain, isConflict } from "./faults.ts";

/** Milliseconds that one operation may take, with its wait for a connection. */
const longestOperation = 5_000;
/** The longest pause before a statement that met another one is sent again, in milliseconds. */
const longestPause = 50;

/** Sends the statement of an operation, and returns the first column of each row. */
export type RunStatement = (text: string, ...values: Values) => Promise<readonly unknown[]>;

const lateError = () =>
  new Error(
    `no result of Postgres within ${longestOperation} ms: it is slow or cannot be reached, or the caller's own transactions have all connections of the client`,
  );

/** A setting of a client can change the names of columns, or make rows arrays. */
const firstColumn = (row: unknown): unknown => Object.values(Object(row))[0];

/**
 * Runs operations on a table. Those on one key follow each other, also where a client has several connections. Each ends after a time: a
 * change that was not sent by then never happens.
 */
export class PostgresConnection {
  readonly #sender: StatementSender;
  readonly #table: string;
  /** The latest operation on each key that has one. */
  readonly #latest = new Map<string, Promise<unknown>>();

  constructor(client: PostgresClient, table: string) {
    this.#sender = senderOf(client);
    this.#table = table;
  }

  /** Runs an operation on a key. If it conflicts with another one, it is repeated from its beginning. */
  operate<Result>(key: string, work: (run: RunStatement) => Promise<Result>): Promise<Result> {
    return withTimeout(systemClock, longestOperation, lateError, (signal) =>
      this.#inTurn(this.#sender.isSingle ? "" : key, () => this.#attempts(work, signal)),
    );
  }

  /** Waits for the end of the operations before this one, also of those whose time has passed. */
  #inTurn<Result>(queue: string, work: () => Promise<Result>): Promise<Result> {
    const result = (this.#latest.get(queue) ?? Promise.resolve()).then(work);
    const end = () => {
      if (this.#latest.get(queue) === settled) this.#latest.delete(queue);
    };
    const settled = result.then(end, end);
    this.#latest.set(queue, settled);
    return result;
  }

  async #attempts<Result>(work: (run: RunStatement) => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const run: RunStatement = async (text, ...values) =>
      (await this.#sender.send(text, values, signal)).map(firstColumn);
    for (let pause = 1; ; pause = Math.min(pause * 2, longestPause)) {
      throwIfAborted(signal);
      try {
        return await work(run);
      } catch (error) {
        if (!isConflict(error)) throw explain(error, this.#table);
        const wait = pause * (0.5 + Math.random() / 2);
        await new Promise<void>((resolve) => void systemClock.after(wait, resolve));
      }
    }
  }
}
