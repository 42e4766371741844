import { throwIfAborted } from "../util/abort-signals.ts";
import { systemClock } from "../util/clock.ts";
import { KeyedMutex } from "../util/concurrency.ts";
import { withTimeout } from "../util/with-timeout.ts";
import { type PostgresClient, type StatementSender, senderOf, type Values } from "./client.ts";
import { explain, isConflict } from "./faults.ts";

/** Maximum milliseconds of an operation, including its wait for a connection. */
const maxOperationTime = 5_000;
/** Maximum milliseconds before an operation that conflicted with another one is repeated. */
const maxPause = 50;

/** Sends the statement of an operation, and returns the first column of each row. */
export type RunStatement = (text: string, ...values: Values) => Promise<readonly unknown[]>;

const lateError = () =>
  new Error(
    `no result of Postgres within ${maxOperationTime} ms: it is slow or cannot be reached, or the caller's own transactions have all connections of the client`,
  );

/** By position: the settings of a client can rename columns, or make rows arrays. */
const firstColumn = (row: unknown): unknown => Object.values(Object(row))[0];

/**
 * Runs operations on a table. Operations on one key run one after the other, even if the client has several connections. Each has a time
 * limit: a change that was not sent by then never happens.
 */
export class PostgresConnection {
  readonly #sender: StatementSender;
  readonly #table: string;
  /** An operation also waits for those whose time limit has passed. */
  readonly #turns = new KeyedMutex();

  constructor(client: PostgresClient, table: string) {
    this.#sender = senderOf(client);
    this.#table = table;
  }

  /** Runs an operation on a key. If it conflicts with another one, it is repeated from its beginning. */
  operate<Result>(key: string, work: (run: RunStatement) => Promise<Result>): Promise<Result> {
    return withTimeout(systemClock, maxOperationTime, lateError, (signal) =>
      this.#turns.take(this.#sender.isSingle ? "" : key, () => this.#attempts(work, signal)),
    );
  }

  async #attempts<Result>(work: (run: RunStatement) => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const run: RunStatement = async (text, ...values) =>
      (await this.#sender.send(text, values, signal)).map(firstColumn);
    for (let pause = 1; ; pause = Math.min(pause * 2, maxPause)) {
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
