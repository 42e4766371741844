import { expect } from "vitest";
import type { HttpResponse } from "./service.ts";

/** The parameters of each policy of a header. */
export type Policies = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A member of a structured-field list: a string with integer parameters (RFC 9651, 3.1), as part 8 shows it. */
const member = /^"(?<name>[ -!#-[\]-~]+)"(?<parameters>(;[ ]*[a-z*][a-z0-9_.*-]*=-?\d{1,15})*)$/;

/** Reads a header by the grammar of structured fields. Throws when it breaks the grammar. */
export function parseList(header: string | null): Policies {
  const members = (header ?? "").split(/[ \t]*,[ \t]*/).map((text) => {
    const { name = "", parameters = "" } = member.exec(text)?.groups ?? {};
    if (name === "") throw new Error(`Not a member of a structured-field list: ${text}`);
    const pairs = parameters
      .split(";")
      .slice(1)
      .map((pair) => pair.trim().split("="));
    return [name, Object.fromEntries(pairs.map(([key, value]) => [key, Number(value)]))] as const;
  });
  return Object.fromEntries(members);
}

/** The quota and window, and the remaining tokens and waiting time, of each policy that a response names. */
export function limitsOf({ headers }: HttpResponse) {
  return { quotas: parseList(headers.get("X-RateLimit-Policy")), levels: parseList(headers.get("X-RateLimit")) };
}

/** Checks that both headers name the same policies, each with its two parameters. */
export function expectLimits(response: HttpResponse): void {
  const { quotas, levels } = limitsOf(response);
  expect(Object.keys(levels)).toEqual(Object.keys(quotas));
  for (const quota of Object.values(quotas)) expect(Object.keys(quota).sort()).toEqual(["q", "w"]);
  for (const [name, { r = -1, t = -1, ...more }] of Object.entries(levels)) {
    expect(more).toEqual({});
    expect([r >= 0, r <= (quotas[name]?.q ?? 0), r > 0 ? t === 0 : t > 0]).toEqual([true, true, true]);
  }
}
