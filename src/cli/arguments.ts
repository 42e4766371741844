import { parseArgs } from "node:util";
import { nearest } from "../schemas/messages.ts";
import { usage } from "./failure.ts";
import { type Flag, type Flags, type Switch, takesValue, type Values } from "./flags.ts";

/** The flags that every command has. */
export const commonFlags = {
  help: { help: "Print this help." },
  version: { help: "Print the version of the package." },
} satisfies Flags;

const shortNames: Readonly<Record<string, string>> = { h: "help", v: "version" };

/** Names that people try for the key. A key in the arguments is visible to other users of the machine. */
const keyNames: ReadonlySet<string> = new Set([
  "secret-key",
  "secretkey",
  "secret",
  "key",
  "api-key",
  "apikey",
  "token",
]);

function unknown(name: string, written: string, flags: Flags): Error {
  if (keyNames.has(name.toLowerCase())) {
    return usage(
      `${written} is an unknown option: other users of the machine can see arguments. Set the environment variable POD_PARTNER_SECRET_KEY.`,
    );
  }
  const likely = nearest(
    `--${name}`,
    Object.keys(flags).map((flag) => `--${flag}`),
  );
  return usage(`${written} is an unknown option.${likely === undefined ? "" : ` Did you mean ${likely}?`}`);
}

/** Reads the value of one flag. Throws a `Failure` that says what the value must be. */
function readValue(name: string, flag: Switch | Flag<unknown>, value: string | undefined, inline: boolean): unknown {
  if (!takesValue(flag)) {
    if (value !== undefined) throw usage(`--${name} takes no value.`);
    return true;
  }
  // `--port --quiet` most likely lacks the value of `--port`.
  if (value === undefined || (!inline && value.startsWith("-"))) {
    throw usage(`--${name} needs a value: --${name} <${flag.placeholder}>.`);
  }
  const read = flag.read(value);
  if (read === undefined) throw usage(`--${name} expects ${flag.expected}, not ${JSON.stringify(value)}.`);
  return read;
}

/**
 * Reads the arguments of a command. The last one of a repeated flag wins.
 *
 * @throws `Failure` when a flag is unknown, or its value is missing or invalid.
 */
export function readArguments<Known extends Flags>(
  args: readonly string[],
  known: Known,
): Values<Known & typeof commonFlags> {
  const flags: Flags = { ...known, ...commonFlags };
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [name, { type: takesValue(flag) ? "string" : "boolean" } as const]),
  );
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const values: Record<string, unknown> = Object.create(null);
  for (const token of tokens) {
    if (token.kind === "positional") throw usage("There is an argument too many: only options are expected.");
    if (token.kind !== "option") continue;
    const name = token.rawName.startsWith("--") ? token.name : (shortNames[token.name] ?? token.name);
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
    if (flag === undefined) throw unknown(name, token.rawName, flags);
    values[name] = readValue(name, flag, token.value, token.inlineValue === true);
  }
  return values as Values<Known & typeof commonFlags>;
}
