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

/** Parses JSON. Undefined if the text is something else. */
export const parseJson = (text: string): { readonly value: unknown } | undefined =>
  attempt(() => ({ value: JSON.parse(text) }));

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
