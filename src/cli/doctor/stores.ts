import type { Store } from "pod-partner";
import { counted, type Finding, failed, ok, skipped } from "./finding.ts";
import type { Reads } from "./reads.ts";

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
