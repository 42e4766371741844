import type { Organization, Paginator, PodPartner, Rendertokens, Store } from "pod-partner";
import { hintOf, type Sdk } from "./connection.ts";
import { counted, duration, type Finding, failed, ok, skipped, warning } from "./finding.ts";

/** Reads the first page of a list. */
async function firstPage(list: Paginator<unknown>): Promise<void> {
  for await (const _ of list.pages()) break;
}

const one = { prefetch: 0 };

/** A GET of each resource that needs no reference. */
const requests = {
  organization: (partner: PodPartner): Promise<Organization> => partner.organization.get(),
  stores: (partner: PodPartner): Promise<readonly Store[]> => partner.organization.stores.list(),
  rendertokens: (partner: PodPartner): Promise<Rendertokens> => partner.rendertokens.get(),
  accounts: (partner: PodPartner) => partner.organization.accounts.list(),
  brands: (partner: PodPartner) => partner.organization.brands.list(),
  products: (partner: PodPartner) => firstPage(partner.catalog.products.list(one)),
  productgroups: (partner: PodPartner) => partner.catalog.productgroups.list(),
  packagings: (partner: PodPartner) => partner.catalog.packagings.list(),
  items: (partner: PodPartner) => firstPage(partner.warehouse.items.list(one)),
  images: (partner: PodPartner) => firstPage(partner.images.list(one)),
  scenes: (partner: PodPartner) => partner.scenes.list(),
  orders: (partner: PodPartner) => firstPage(partner.orders.list(one)),
  claims: (partner: PodPartner) => firstPage(partner.claims.list(one)),
  claimcategories: (partner: PodPartner) => partner.claims.categories.list(),
};

type Requests = typeof requests;

/** What each read gave. */
export type Reads = { readonly [Name in keyof Requests]: PromiseSettledResult<Awaited<ReturnType<Requests[Name]>>> };

/** Sends all reads at once. The client paces them. */
export async function readAll(partner: PodPartner): Promise<Reads> {
  const entries = Object.entries(requests).map(async ([name, read]) => {
    const [result] = await Promise.allSettled([read(partner)]);
    return [name, result];
  });
  return Object.fromEntries(await Promise.all(entries)) as Reads;
}

const firstLine = (error: unknown): string =>
  error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);

function actionFor(sdk: Sdk, error: unknown): string {
  if (error instanceof sdk.RateLimitError)
    return "Other programs use the limit of this key: run the command again when they are idle.";
  if (error instanceof sdk.ResponseValidationError) {
    const [issue] = error.issues;
    const difference = issue === undefined ? "" : ` \`${issue.path.join(".")}\` ${issue.message}.`;
    return `The service differs from the specification:${difference} ${error.hint}`;
  }
  return hintOf(error) || "Run the command again. Contact the operator's support if it persists.";
}

/** Checks which resources the key may read. */
export function checkPermissions(sdk: Sdk, reads: Reads): Finding {
  const entries: readonly (readonly [string, PromiseSettledResult<unknown>])[] = Object.entries(reads);
  const failures = entries.flatMap(([name, result]) =>
    result.status === "rejected" ? [{ name, error: result.reason as unknown }] : [],
  );
  const denied = failures.filter(({ error }) => error instanceof sdk.PermissionDeniedError).map(({ name }) => name);
  const missing = failures.filter(({ error }) => error instanceof sdk.NotImplementedError).map(({ name }) => name);
  const broken = failures.filter(({ name }) => !denied.includes(name) && !missing.includes(name));
  const details = {
    readable: entries.map(([name]) => name).filter((name) => failures.every((failure) => failure.name !== name)),
    denied,
    unavailable: missing,
    failed: broken.map(({ name }) => name),
  };
  if (denied.length > 0) {
    const action = "Make a key with these permissions in the dashboard, or contact the operator's support.";
    return failed(`The key may not read: ${denied.join(", ")} (403).`, { action, details });
  }
  const [first] = broken;
  if (first !== undefined) {
    return failed(`${broken.map(({ name }) => name).join(", ")} could not be read. ${firstLine(first.error)}`, {
      action: actionFor(sdk, first.error),
      details,
    });
  }
  if (missing.length > 0) return warning(`The service does not offer yet: ${missing.join(", ")} (501).`, { details });
  return ok(`All ${counted(entries.length, "resource")} can be read`, { details });
}

type Environment = "test" | "production";

/** What a word says about the environment. */
export function meaningOf(word: string): Environment | undefined {
  if (/^(test|testing|sandbox|staging|acceptance|emulator)$/i.test(word)) return "test";
  return /^(prod|prd|production|live)\d*$/i.test(word) ? "production" : undefined;
}

/** What a host name, or the URL that begins with it, says about the environment. */
export const environmentOf = (name: string): Environment | undefined =>
  name
    .split(/[./_-]/)
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
  const environment = byOrganization ?? environmentOf(url.hostname);
  if (environment === undefined) {
    return warning("The service does not show whether this is test or production.", {
      action: "Treat it as production until you know better: there, orders are produced, delivered and billed.",
      details: { environment: null, source: null },
    });
  }
  const source = byOrganization === undefined ? "host" : "organization";
  const by = byOrganization === undefined ? `by the host name ${url.hostname}` : "by the organization's record";
  const name = environment === "test" ? "Test" : "Production";
  const details = { environment, source };
  const message = `${name}, ${by}: ${orders[environment]}`;
  if (environment === "production") return ok(message, { details });
  const action = "Measure what the specification does not show: npx pod-partner conform --test-environment";
  return ok(message, { action, details });
}

/** A reset in the time of the service: `Mon 30 Nov 00:00`. */
function inAmsterdam(time: number): string {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: "Europe/Amsterdam",
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  });
  return `${format.format(time).replaceAll(",", "")} Amsterdam time`;
}

/** Checks how many rendertokens remain this week. */
export function checkRendertokens({ rendertokens }: Reads, now: number): Finding {
  if (rendertokens.status === "rejected") return skipped("Not checked: the rendertokens could not be read");
  const { used, limit, remaining, resets } = rendertokens.value;
  const details = { used, limit, remaining, resets };
  const at = Date.parse(resets);
  const reset = Number.isNaN(at) ? resets : `${inAmsterdam(at)}, in ${duration(Math.max(at - now, 0))}`;
  if (remaining <= 0) {
    return failed(`No rendertokens remain of ${limit.toLocaleString("en")}: the service refuses renders.`, {
      action: `Wait for the reset (${reset}), or ask the operator for a higher limit.`,
      details,
    });
  }
  const message = `${remaining.toLocaleString("en")} of ${limit.toLocaleString("en")} remain; reset ${reset}`;
  return remaining < limit / 10 ? warning(message, { details }) : ok(message, { details });
}

/** Stores that the text names; the details have all. */
const shown = 3;

const nameOf = ({ reference, legacyCode }: Store): string => legacyCode ?? reference;

function listed(stores: readonly Store[], describe: (store: Store) => string): string {
  const more = stores.length - shown;
  return stores.slice(0, shown).map(describe).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Checks that the API can create orders in at least one store. */
export function checkStores({ stores }: Reads): Finding {
  if (stores.status === "rejected") return skipped("Not checked: the stores could not be read");
  const all = stores.value;
  const accepting = all.filter(({ integration }) => integration === "api");
  const refusing = all.filter((store) => !accepting.includes(store));
  const details = {
    accepting: accepting.map(({ reference }) => reference),
    refusing: refusing.map(({ reference, integration }) => ({ reference, integration: integration ?? null })),
  };
  const refusals = listed(refusing, (store) => `${nameOf(store)} (${store.integration ?? "no integration"})`);
  if (all.length === 0) {
    const action = "Make a store with the integration api in the dashboard.";
    return failed("The organization has no store.", { action, details });
  }
  if (accepting.length === 0) {
    return failed(`No store accepts orders from the API: ${refusals}.`, {
      action:
        "Orders need a store whose integration is api. Make one in the dashboard, or change a store's integration.",
      details,
    });
  }
  const others = refusing.length === 0 ? "" : `; not ${refusals}`;
  return ok(
    `${accepting.length} of ${counted(all.length, "store")} accept orders: ${listed(accepting, nameOf)}${others}`,
    { details },
  );
}
