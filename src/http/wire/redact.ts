import type { ErrorResponse } from "../../errors/response.ts";

const blot = "[redacted]";

const entities: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };

/** One character of the key as a text, a URL, JSON or HTML may have it. */
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

/** Makes the function that blots the secret key out of whatever a service repeats: as it is, or as a URL, JSON or HTML has it. */
export function createRedact(secretKey: string): (text: string) => string {
  // JSON doubles a backslash. Where any could be doubled, a row of them would match in more ways than can be tried.
  const json = JSON.stringify(secretKey)
    .slice(1, -1)
    .replace(/[^A-Za-z0-9]/g, String.raw`\$&`);
  const key = new RegExp(`${[...secretKey].map(formsOf).join("")}|${json}`, "gi");
  return (text) => text.replace(key, blot);
}

export type Redact = ReturnType<typeof createRedact>;

export const parseJson = (text: string): { readonly ok: true; readonly value: unknown } | { readonly ok: false } => {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
};

/** Nobody reads deeper, and whoever walks through what is nested without end, such as `JSON.stringify`, runs out of stack. */
const deepest = 100;

/** Blots the key out of every text in a value that JSON gave: there a key may have been escaped. */
function redactAll(value: unknown, redact: Redact, depth = 0): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === deepest) return "[nested deeper]";
  if (Array.isArray(value)) return value.map((item) => redactAll(item, redact, depth + 1));
  const fields = Object.entries(value).map(([name, item]) => [redact(name), redactAll(item, redact, depth + 1)]);
  return Object.fromEntries(fields);
}

/** Headers as they may be shown: a policy could have the key for a name. */
export const redacted = (headers: Headers, redact: Redact): Pick<Headers, "get"> => ({
  get: (name) => {
    const value = headers.get(name);
    return value === null ? null : redact(value);
  },
});

/** Keeps of an answer what an error may show. */
export function snapshot(status: number, headers: Headers, text: string, redact: Redact): ErrorResponse {
  const json = text === "" ? undefined : parseJson(text);
  const body = json === undefined ? undefined : json.ok ? redactAll(json.value, redact) : redact(text);
  return {
    status,
    headers: Object.fromEntries([...headers].map(([name, value]) => [redact(name), redact(value)])),
    body,
  };
}
