import { createRedact, type Redact } from "../../http/redact.ts";

const keyHeader = "x-service-secret-key";
/** Headers whose whole value is secret: another key can be in them. */
const secretHeaders: ReadonlySet<string> = new Set([keyHeader, "authorization", "proxy-authorization", "cookie"]);

/** A shorter text is not redacted outside its header: it occurs in ordinary words. */
const shortest = 4;
/** A longer text is searched as it is: the pattern for all its escaped forms would be too large. */
const longest = 256;

function redactOne(key: string): Redact {
  if (key.length < shortest) return (text) => text;
  return key.length > longest ? (text) => text.replaceAll(key, "[redacted]") : createRedact(key);
}

/** Makes the function that removes all keys of a set that can grow. A key that contains another one is removed first. */
function redactAll(keys: ReadonlySet<string>): Redact {
  let made: readonly Redact[] = [];
  return (text) => {
    if (made.length < keys.size) made = [...keys].sort((one, other) => other.length - one.length).map(redactOne);
    return made.reduce((redacted, redact) => redact(redacted), text);
  };
}

/** Makes the function that returns how to redact the texts of a request: its own key, and every key that the emulator has or had. */
export function createRedactKeys(keys: ReadonlySet<string>): (headers: Headers) => Redact {
  const known = redactAll(keys);
  return (headers) => {
    const given = headers.get(keyHeader);
    if (given === null || keys.has(given)) return known;
    const other = redactOne(given);
    return (text) => known(other(text));
  };
}

/** Headers by name, as they may be shown. `headers` has names and values by turns. */
export function redactHeaders(headers: readonly string[], redact: Redact): Readonly<Record<string, string>> {
  const shown: [string, string][] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? "";
    shown.push([redact(name), secretHeaders.has(name) ? "[redacted]" : redact(headers[index + 1] ?? "")]);
  }
  return Object.fromEntries(shown);
}
