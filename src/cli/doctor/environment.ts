import { type Finding, ok, warning } from "./finding.ts";
import type { Reads } from "./reads.ts";

type Environment = "test" | "production";

/** What a word says about the environment. */
function meaningOf(word: string): Environment | undefined {
  if (/^(test|testing|sandbox|staging|acceptance|emulator)$/i.test(word)) return "test";
  return /^(prod|production|live)$/i.test(word) ? "production" : undefined;
}

const fromName = (host: string): Environment | undefined =>
  host
    .split(/[.-]/)
    .map(meaningOf)
    .find((meaning) => meaning !== undefined);

/** Whether the organization has a field about it. The specification does not show one. */
function fromOrganization({ organization }: Reads): Environment | undefined {
  const value = organization.status === "fulfilled" ? organization.value.environment : undefined;
  return typeof value === "string" ? meaningOf(value) : undefined;
}

const orders: Readonly<Record<Environment, string>> = {
  test: "orders are never produced or invoiced",
  production: "orders are produced, delivered and billed",
};

/** Says whether this is test or production, as far as the service shows it. */
export function checkEnvironment(reads: Reads, url: URL): Finding {
  const byOrganization = fromOrganization(reads);
  const environment = byOrganization ?? fromName(url.hostname);
  if (environment === undefined) {
    return warning("The service does not show whether this is test or production.", {
      action: "Treat it as production until you know better: there, orders are produced, delivered and billed.",
      details: { environment: null, source: null },
    });
  }
  const source = byOrganization === undefined ? "host" : "organization";
  const by = byOrganization === undefined ? `by the host name ${url.hostname}` : "by the organization's record";
  const name = environment === "test" ? "Test" : "Production";
  return ok(`${name}, ${by}: ${orders[environment]}`, { details: { environment, source } });
}
