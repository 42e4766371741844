import type { ErrorResponse } from "../errors/response.ts";
import { attempt } from "../util/foreign.ts";
import type { HeaderFields } from "../util/response-head.ts";
import { mapTexts } from "../util/visible.ts";

const replacement = "[redacted]";

const entities: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };

/** A pattern for one character of the key, plain or escaped as in a URL, JSON or HTML. */
function formsOf(character: string): string {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const code = character.charCodeAt(0);
  const hex = code.toString(16);
  const entity = entities[character];
  const forms = [
    `${character === "\\" ? "" : "\\\\?"}\\u${hex.padStart(4, "0")}`,
    `%${hex}`,
    `\\\\u${hex.padStart(4, "0")}`,
    `&#0*${code};`,
    `&#x0*${hex};`,
    ...(entity === undefined ? [] : [`&${entity};`]),
  ];
  return `(?:${forms.join("|")})`;
}

/** Makes the function that removes the secret key from a text, plain or escaped as in a URL, JSON or HTML. */
export function createRedact(secretKey: string): (text: string) => string {
  // JSON doubles a backslash. The pattern does not allow each one to be doubled: a row of backslashes would match in too many ways.
  const json = JSON.stringify(secretKey)
    .slice(1, -1)
    .replace(/[^A-Za-z0-9]/g, String.raw`\$&`);
  const key = new RegExp(`${[...secretKey].map(formsOf).join("")}|${json}`, "gi");
  // Each form of the key has at least as many characters as the key.
  return (text) => (text.length < secretKey.length ? text : text.replace(key, replacement));
}

export type Redact = ReturnType<typeof createRedact>;

/** The maximum depth of JSON. V8 needs several microseconds for each level: a body of 6 MB can block the event loop for 20 seconds. */
const maxNesting = 5_000;

/** Whether a text contains more than so many brackets, which is found much faster than how deep they are nested. */
function hasManyBrackets(text: string): boolean {
  let count = 0;
  for (const bracket of "[{")
    for (let at = text.indexOf(bracket); at !== -1 && count <= maxNesting; at = text.indexOf(bracket, at + 1))
      count += 1;
  return count > maxNesting;
}

/** Whether JSON is nested deeper than it may be. */
function isNestedTooDeep(text: string): boolean {
  if (!hasManyBrackets(text)) return false;
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length && depth <= maxNesting; at += 1) {
    const character = text[at];
    if (character === '"') isString = !isString;
    // An escaped quote does not end a string.
    else if (character === "\\") at += 1;
    else if (isString) continue;
    else if (character === "[" || character === "{") depth += 1;
    else if (character === "]" || character === "}") depth -= 1;
  }
  return depth > maxNesting;
}

/** Parses JSON. Undefined if the text is something else, or nested too deep to be a response of the service. */
export const parseJson = (text: string): { readonly value: unknown } | undefined =>
  isNestedTooDeep(text) ? undefined : attempt(() => ({ value: JSON.parse(text) }));

/** Copies the parts of a response that an error may show. */
export function snapshot(status: number, headers: HeaderFields, text: string, redact: Redact): ErrorResponse {
  const json = parseJson(text);
  // JSON may have escaped the key: each text of the parsed value is redacted.
  const body = json === undefined ? redact(text) || undefined : mapTexts(json.value, redact);
  return {
    status,
    headers: Object.fromEntries([...headers].map(([name, value]) => [redact(name), redact(value)])),
    body,
  };
}
