import { refuse } from "../storage/contract.ts";
import { textOf, wordsOf } from "../util/foreign.ts";

/** Errors of a statement that conflicted with another one and changed nothing. It is sent again. */
const conflicts = new Set([
  "40001", // serialization_failure, where the database or the user has a stricter isolation by default
  "40P01", // deadlock_detected
  // Two processes that create the table at the same time, also with IF NOT EXISTS.
  "23505", // unique_violation, in the catalog
  "42P07", // duplicate_table
  "42710", // duplicate_object, the type of its rows
]);

/** Errors for a table of something else: undefined_column, undefined_function, datatype_mismatch, wrong_object_type, no unique key. */
const foreignTable = new Set(["42703", "42883", "42804", "42809", "42P10"]);

/** The SQLSTATE of an error of Postgres, or the code of an error of the network. */
const codeOf = (error: unknown): string => textOf(error, "code") ?? "";

/** Whether the statement changed nothing and can be sent again at once. */
export const isConflict = (error: unknown): boolean => conflicts.has(codeOf(error));

/**
 * Returns a clearer error for some errors of a statement, and the error itself otherwise.
 *
 * @throws `ConfigurationError` if the table is missing, or is not the table of a storage.
 */
export function explain(error: unknown, table: string): unknown {
  const code = codeOf(error);
  const message = textOf(error, "message") ?? "";
  const explained = (text: string) => new Error(text, { cause: error });
  if (code === "42P01") {
    const how = "call `await storage.migrate()` once, or run the file `pod-partner/postgres.sql`";
    return refuse(["table"], `there is no table ${table}; ${how}`);
  }
  if (code === "3F000") return refuse(["table"], `there is no schema for ${table}; create it first`);
  if (foreignTable.has(code)) return refuse(["table"], `${table} is not the table of a storage: ${message}`);
  if (code === "25006") {
    return explained("Postgres takes no changes here, as on a standby: the storage needs a client of the primary");
  }
  if (code === "42501") {
    return explained(`${message}: the storage needs SELECT, INSERT, UPDATE and DELETE on ${table}`);
  }
  // The error for a host with several addresses has no message of its own.
  if (message === "") return explained(`Postgres cannot be reached: ${code || wordsOf(error)}`);
  return error;
}
