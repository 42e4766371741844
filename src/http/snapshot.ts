import type { ErrorResponse } from "../errors/response.ts";

const redacted = "[redacted]";

/** Makes the function that blots the secret key out of whatever a service repeats. */
export const createRedact =
  (secretKey: string) =>
  (text: string): string =>
    text.includes(secretKey) ? text.replaceAll(secretKey, redacted) : text;

export type Redact = ReturnType<typeof createRedact>;

export const parseJson = (text: string): { readonly ok: true; readonly value: unknown } | { readonly ok: false } => {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
};

/** Keeps of an answer what an error may show. */
export function snapshot(status: number, headers: Headers, text: string, redact: Redact): ErrorResponse {
  const clean = redact(text);
  const json = clean === "" ? undefined : parseJson(clean);
  const body = json === undefined ? undefined : json.ok ? json.value : clean;
  return {
    status,
    headers: Object.fromEntries([...headers].map(([name, value]) => [name, redact(value)])),
    body,
  };
}
