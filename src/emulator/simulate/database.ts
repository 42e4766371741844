import { isFunction, isObject, propertyOf } from "../../util/foreign.ts";
import type { Life } from "./life.ts";
import { shown } from "./trace.ts";

/** The rows of a program, by table and key. It stays when a life ends. */
export interface SimulatedDatabase {
  /** Resolves to all rows of a table, in the order in which their keys were first put. */
  all<Row>(table: string): Promise<readonly Row[]>;
  /** Resolves to a row; undefined if there is none. */
  get<Row>(table: string, key: string): Promise<Row | undefined>;
  /** Sets a row. */
  put(table: string, key: string, row: unknown): Promise<void>;
  /** Deletes a row. */
  delete(table: string, key: string): Promise<void>;
}

/** Makes an empty database in memory. What it gives and takes are copies. */
export function createDatabase(): SimulatedDatabase {
  const tables = new Map<string, Map<string, unknown>>();
  const rowsOf = (table: string) => {
    const rows = tables.get(table) ?? new Map<string, unknown>();
    tables.set(table, rows);
    return rows;
  };
  return {
    all: async <Row>(table: string) => structuredClone([...rowsOf(table).values()]) as Row[],
    get: async <Row>(table: string, key: string) => structuredClone(rowsOf(table).get(key)) as Row | undefined,
    put: async (table, key, row) => void rowsOf(table).set(key, structuredClone(row)),
    delete: async (table, key) => void rowsOf(table).delete(key),
  };
}

/** What happens to a call of a database. */
export interface DatabaseCall {
  /** The database gets the call. Throws when it is down. */
  readonly begin: () => void;
  /** The database has done it. Throws when the result is lost. */
  readonly done: (result: unknown) => void;
  /** The database has refused it, or the transaction has failed. */
  readonly failed: (error: unknown) => void;
  /** Resolves when the program gets the result. */
  readonly arrive: () => Promise<void>;
}

/** Who follows the calls of a database. */
export interface DatabaseWatch {
  readonly life: Life;
  readonly call: (text: string) => DatabaseCall;
  /** Stops the virtual time during a call. */
  readonly track: (work: Promise<unknown>) => Promise<unknown>;
}

const isPromise = (value: unknown): value is Promise<unknown> => isFunction(propertyOf(value, "then"));
const isCallback = (value: unknown): value is (...given: unknown[]) => unknown => isFunction(value);

/** Whether it has methods, as a statement or a transaction has, and is no data. */
export function hasMethods(value: unknown): value is object {
  if (!isObject(value) || Array.isArray(value) || ArrayBuffer.isView(value) || Symbol.iterator in value) return false;
  for (let at: unknown = value; isObject(at) && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    const names = Object.getOwnPropertyNames(at).filter((name) => name !== "constructor");
    if (names.some((name) => isFunction(propertyOf(value, name)))) return true;
  }
  return false;
}

/** The SQL or the table of a call, in one short line. A template's SQL is in pieces. */
function subjectOf(first: unknown): string {
  const text = Array.isArray(first) ? first.join("?") : typeof first === "string" ? first : "";
  return shown(text.replace(/\s+/g, " ").trim(), 100);
}

/** A call in one line: `query select id from orders where id = $1 (shop-1)`. A statement has its SQL already. */
function textOf(name: string, given: readonly unknown[], statement: string): string {
  const subject = statement || subjectOf(given[0]);
  const values = (statement === "" && subject !== "" ? given.slice(1) : given).filter((value) => !isFunction(value));
  const words = values.flat().map((value) => shown(value, 40));
  return `${name} ${subject}${words.length === 0 ? "" : ` (${words.join(", ")})`}`.trim();
}

/**
 * A database as one life has it: each call is an operation that faults can strike. A call of a life that is over does nothing. Its open
 * transaction is rolled back, as a database does when a connection ends.
 */
export function watchDatabase<Database extends object>(database: Database, watch: DatabaseWatch, about = ""): Database {
  const { life, track } = watch;
  const own = (value: unknown, subject: string) => (hasMethods(value) ? watchDatabase(value, watch, subject) : value);
  /** A function that the database calls, with a transaction for example. */
  const ownCallback = (given: unknown) => {
    if (!isCallback(given)) return given;
    return (...inner: unknown[]) => {
      const result = given(...inner.map((value) => own(value, "")));
      return isPromise(result) ? Promise.race([result, life.end.then(() => refuse())]) : result;
    };
  };
  const call = (name: string, method: (...given: unknown[]) => unknown, given: readonly unknown[]) => {
    if (life.isOver) refuse();
    const subject = about || subjectOf(given[0]);
    const operation = watch.call(textOf(name, given, about));
    operation.begin();
    if (life.isOver) refuse();
    const apply = () => {
      try {
        return Reflect.apply(method, database, given.map(ownCallback));
      } catch (error) {
        operation.failed(error);
        throw error;
      }
    };
    const result: unknown = apply();
    if (!isPromise(result)) {
      operation.done(result);
      if (life.isOver) refuse();
      return own(result, subject);
    }
    const whole = async () => {
      // A transaction waits for the program, and the program for the time.
      const value = await (given.some(isCallback) ? result : track(result)).catch((error: unknown) => {
        operation.failed(error);
        throw error;
      });
      operation.done(value);
      await operation.arrive();
      return own(value, subject);
    };
    return whole();
  };
  return new Proxy(database, {
    get: (_, name) => {
      const value: unknown = Reflect.get(database, name, database);
      return isCallback(value) ? (...given: unknown[]) => call(String(name), value, given) : value;
    },
  });
}

function refuse(): never {
  throw new Error("This life of the program is over: it was killed by the simulation");
}
