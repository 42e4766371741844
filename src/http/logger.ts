import { isFunction, propertyOf, safely, textOf } from "../util/foreign.ts";
import { builtIn } from "../util/runtime.ts";
import { inOneLine, mapTexts } from "../util/visible.ts";

/**
 * Receives events as a text and fields: `console`, winston, pino, bunyan and others. Events of a level that it lacks are dropped.
 *
 * pino and bunyan, which have a method `child` and a property `bindings` or `fields`, get the fields first and then the text, as they expect
 * it. All others get the text first. A `console` gets one line of text for each event, and nothing of the level `debug`.
 */
export interface Logger {
  /** Each step of a call, and the calls that the SDK makes for another one. */
  debug?(message: string, fields: object): void;
  /** Each call that has ended, pauses, and a storage that is back. */
  info?(message: string, fields: object): void;
  /** Each call that has failed, retries, unread downloads, and a storage that is lost. */
  warn?(message: string, fields: object): void;
  /** Responses that break their schema, and hooks that threw. */
  error?(message: string, fields: object): void;
}

export type Level = keyof Logger;
const levels: readonly Level[] = ["debug", "info", "warn", "error"];

/** Whether a logger takes the fields before the text, and would drop or reorder them otherwise. */
const takesFieldsFirst = (logger: Logger): boolean =>
  isFunction(propertyOf(logger, "child")) &&
  (isFunction(propertyOf(logger, "bindings")) || typeof propertyOf(logger, "fields") === "object");

/** A console has no level to set, and prints an object on many lines. */
const isConsole = (logger: Logger): boolean =>
  ["log", "table", "dir"].every((name) => isFunction(propertyOf(logger, name)));

/** What identifies an event, for a line of text. */
const namesOf = (fields: unknown): string =>
  ["callId", "docs"].flatMap((name) => textOf(fields, name) ?? []).join("  ");

/** What the method of a logger is called with. */
function argumentsFor(logger: Logger, message: string, fields: unknown): readonly unknown[] {
  if (isConsole(logger)) return [`${message}  ${namesOf(fields)}`.trimEnd()];
  return takesFieldsFirst(logger) ? [fields, message] : [message, fields];
}

/** Logs an event. An error of the logger is dropped, because no other place can report it. */
export function log(logger: Logger | undefined, level: Level, text: string, event: object): void {
  if (logger === undefined || (level === "debug" && isConsole(logger))) return;
  const given = Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined));
  // A code of the service or the message of a storage must not start a new line, colour the terminal or reverse the text.
  const [message, fields] = [inOneLine(`pod-partner: ${text}`), mapTexts(given, inOneLine)];
  safely(
    () => {
      const write = logger[level];
      return write && Reflect.apply(write, logger, argumentsFor(logger, message, fields));
    },
    () => undefined,
  );
}

/** The colours of the levels on a terminal. */
const colours = { debug: "gray", info: "cyan", warn: "yellow", error: "red" } as const;

/** Writes the events from a level on to stderr, one line each: as text, in colours on a terminal, or as JSON. */
export function stderrLogger(level: Level, format: "text" | "json"): Logger {
  const { styleText } = builtIn("node:util") ?? {};
  const { stderr, env } = globalThis.process;
  const inColours = styleText !== undefined && stderr?.isTTY === true && !env.NO_COLOR;
  const paint = (colour: "gray" | (typeof colours)[Level], text: string) =>
    // Otherwise stdout, which may be a file, decides.
    inColours ? styleText(colour, text, { validateStream: false }) : text;
  const lineOf = (name: Level, message: string, { callId, docs, ...fields }: { callId?: string; docs?: string }) => {
    const time = new Date().toISOString();
    if (format === "json") return JSON.stringify({ time, level: name, message, callId, ...fields, docs });
    const details = namesOf({ callId, docs });
    const clock = inColours ? time.slice(11, -1) : time;
    const text = message.replace(/^pod-partner: /, "");
    return `${paint("gray", `${clock} pod-partner`)} ${paint(colours[name], name.padEnd(5))} ${text}  ${paint("gray", details)}`.trimEnd();
  };
  const write = (name: Level) => (message: string, fields: object) => console.error(lineOf(name, message, fields));
  return Object.fromEntries(levels.slice(levels.indexOf(level)).map((name) => [name, write(name)]));
}
