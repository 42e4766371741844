import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { runMain } from "./main.ts";

export interface Outcome {
  readonly id: string;
  readonly status: string;
  readonly findings: readonly { readonly kind: string; readonly text: string }[];
}

/** Runs the rows and returns what came of each. */
export async function verify(only: string, program: readonly string[], options: readonly string[] = []) {
  const { code, output, errors } = await runMain(["verify", "--json", "--only", only, ...options, "--", ...program]);
  if (output === "") throw new Error(errors);
  const report = JSON.parse(output) as { ok: boolean; orders: number; outcomes: readonly Outcome[] };
  const rows = Object.fromEntries(
    report.outcomes.map(({ id, status, findings }) => [id, [status, ...findings.map(({ text }) => text)].join(": ")]),
  );
  return { code, report, rows };
}

/** A folder for the programs and the reports of a file's tests. */
export function useFolder() {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "verify-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string): string => join(folder, name);
  return {
    at,
    /** A program of one file. */
    programOf: (name: string, code: string): readonly string[] => {
      writeFileSync(at(name), code);
      return [process.execPath, at(name)];
    },
  };
}

/** What programs begin with: `get`. */
export const listing = `
  const { POD_PARTNER_BASE_URL: url, POD_PARTNER_SECRET_KEY: key } = process.env;
  const get = (path, init = {}) => fetch(url + path, { headers: { "X-Service-Secret-Key": key }, ...init });
`;

/** What several programs begin with: `get`, `post`, the store of the API, and a product without print, which needs no image. */
export const ordering = `${listing}
  const post = async (path, body) => {
    for (let attempt = 1; ; attempt += 1) {
      const headers = { "X-Service-Secret-Key": key, "Content-Type": "application/json" };
      const response = await get(path, { method: "POST", headers, body: JSON.stringify(body) }).catch(() => {});
      if (response?.ok) return response.json().catch(() => {});
      if (attempt === 3) throw new Error(path);
    }
  };
  const storeReference = (await (await get("/stores")).json()).stores.find(({ integration }) => integration === "api").reference;
  const { products } = await (await get("/products")).json();
  const place = async (customIdentifier, quantity) => {
    for (const { reference: productReference } of products) {
      const orderlines = [{ productReference, quantity }];
      const order = { customIdentifier, storeReference, shippingKind: "combined", orderlines };
      const made = await post("/orders", { order }).catch(() => {});
      if (made !== undefined) return made.order.reference;
    }
  };
  const find = async (customIdentifier) => {
    const found = await get("/utilities/lookup-order-reference-by-custom-identifier?customIdentifier=" + customIdentifier);
    return found.ok ? (await found.json()).orderReference : undefined;
  };
`;
