import type { Organization, Paginator, PodPartner, Rendertokens, Store } from "pod-partner";
import { counted, type Finding, failed, ok, warning } from "./finding.ts";
import type { Sdk } from "./settings.ts";

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
    const action = "Run the command again. Contact the operator's support if it persists.";
    return failed(`${broken.map(({ name }) => name).join(", ")} could not be read. ${firstLine(first.error)}`, {
      action,
      details,
    });
  }
  if (missing.length > 0) return warning(`The service does not offer yet: ${missing.join(", ")} (501).`, { details });
  return ok(`All ${counted(entries.length, "resource")} can be read`, { details });
}
