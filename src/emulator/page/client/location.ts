import { effect, signal } from "@preact/signals";
import { isNarrow } from "./hooks.ts";

/** The address of the page: `#/orders`, `#/orders/Order_…`, `#/requests/412`. Back and a reload lead to the same place. */

export const tabs = ["Orders", "Renders", "Claims", "Callbacks", "Catalogue", "Faults", "World"] as const;
export type TabName = (typeof tabs)[number] | "Requests";

/** The tab that is open. */
export const chosen = signal<TabName>("Orders");
/** The request whose details are open. */
export const opened = signal<number>();
/** The record whose card is to be shown, open and in view. A new object for each visit. */
export const visited = signal<{ readonly reference: string }>();

const nameOf = (part: string): TabName | undefined =>
  [...tabs, "Requests" as const].find((name) => name.toLowerCase() === part);

function read(): void {
  const [, part = "", id = ""] = location.hash.split("/");
  if (part === "requests" && id !== "") {
    opened.value = Number(id) || undefined;
    if (isNarrow.value) chosen.value = "Requests";
    return;
  }
  opened.value = undefined;
  chosen.value = nameOf(part) ?? (isNarrow.value ? "Requests" : "Orders");
  visited.value = id === "" ? undefined : { reference: id };
}

const hashOf = (name: string, id?: string | number): string =>
  `#/${name.toLowerCase()}${id === undefined ? "" : `/${id}`}`;

export const openTab = (name: TabName): void => {
  location.hash = hashOf(name);
};

/** Opens the details of a request. `replace` adds no step for Back: the arrow keys move through many. */
export function openRequest(id: number, replace = false): void {
  if (!replace) location.hash = hashOf("requests", id);
  else {
    history.replaceState(null, "", hashOf("requests", id));
    opened.value = id;
  }
}

/** Closes the details: the tab under them is open again. */
export const closeRequest = (): void => openTab(chosen.value);

/** The tab that has the records of a kind. */
const tabOf: Readonly<Record<string, TabName>> = {
  Order: "Orders",
  Shipment: "Orders",
  Render: "Renders",
  Claim: "Claims",
  Product: "Catalogue",
};

/** The address of a record's card. Undefined for a kind that has no card. */
export function hrefOf(reference: string): string | undefined {
  const tab = tabOf[reference.split("_", 1)[0] ?? ""];
  return tab === undefined ? undefined : hashOf(tab, reference);
}

/** Follows the address. */
export function followLocation(): void {
  addEventListener("hashchange", read);
  read();
  // A window that becomes narrow shows one part at a time; a wide one has the requests beside the tabs.
  effect(() => {
    if (!isNarrow.value && chosen.value === "Requests") chosen.value = "Orders";
  });
}
