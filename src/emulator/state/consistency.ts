import type { Issue } from "../../errors/validation.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { type EvidenceReference, isReference, referenceKinds } from "../../references/references.ts";
import { unknownPattern } from "../base/endpoint-names.ts";
import { policies } from "../base/rate-limit.ts";
import type { ReferenceMaker } from "../base/reference-maker.ts";
import { faultIssue } from "../faults/faults.ts";
import type { SentCallback } from "../work/callback.ts";
import {
  listNames,
  type StoredClaim,
  type StoredLine,
  type StoredOrder,
  type StoredRecords,
  type Task,
} from "../work/records.ts";
import type { SavedOrganization, SavedWorld } from "./saved-world.ts";
import type { World, Worlds } from "./world.ts";

type Path = Issue["path"];

/** The most issues that are kept. A world that a script changed can have the same one in each of its records. */
const maxIssues = 1000;

/** Collects what is wrong with a saved world. */
class Findings {
  readonly issues: Issue[] = [];

  add(path: Path, message: string): void {
    if (this.issues.length < maxIssues) this.issues.push({ path: ["world", ...path], message });
  }
}

/** A list of records that knows them by reference. */
interface ReferenceTable {
  get(reference: string): unknown;
}

/** Reports what is wrong with one record. */
class RecordFindings {
  readonly #findings: Findings;
  readonly #at: Path;
  readonly #reference: string;

  constructor(findings: Findings, at: Path, reference: string) {
    this.#findings = findings;
    this.#at = at;
    this.#reference = reference;
  }

  add(field: Path, message: string): void {
    this.#findings.add([...this.#at, ...field], `${this.#reference} ${message}`);
  }

  /** Reports a reference that a list does not have. A missing reference and null name nothing. */
  names(field: Path, reference: string | null | undefined, list: ReferenceTable): void {
    if (typeof reference !== "string" || list.get(reference) !== undefined) return;
    this.add(field, `names ${reference}, which the world does not have`);
  }
}

type RecordList = keyof StoredRecords | "keys";

/** An organization of a saved world, with what its records refer to. */
class CheckedOrganization {
  readonly saved: SavedOrganization;
  /** The same records by reference, and the catalog. */
  readonly world: World;
  readonly #findings: Findings;
  readonly #at: readonly (string | number)[];

  constructor(saved: SavedOrganization, world: World, position: number, findings: Findings) {
    this.saved = saved;
    this.world = world;
    this.#findings = findings;
    this.#at = ["organizations", position];
  }

  add(field: readonly (string | number)[], message: string): void {
    this.#findings.add([...this.#at, ...field], message);
  }

  /** Checks each record of a list. */
  each<List extends RecordList>(
    list: List,
    check: (record: SavedOrganization[List][number], findings: RecordFindings) => void,
  ): void {
    const records: readonly SavedOrganization[List][number][] = this.saved[list];
    for (const [position, record] of records.entries()) {
      check(record, new RecordFindings(this.#findings, [...this.#at, list, position], record.reference));
    }
  }
}

/** The quantity of each line in all shipments, by order and index. */
type ShippedLines = ReadonlyMap<string, ReadonlyMap<number, number>>;

function shippedLines({ saved }: CheckedOrganization): ShippedLines {
  const shipped = new Map<string, Map<number, number>>();
  for (const { orderReference, lines } of saved.shipments.flatMap(({ parcels }) => parcels)) {
    const quantities = shipped.get(orderReference) ?? new Map<number, number>();
    shipped.set(orderReference, quantities);
    for (const { index, quantity } of lines) quantities.set(index, (quantities.get(index) ?? 0) + quantity);
  }
  return shipped;
}

function checkQuantities(line: StoredLine, shipped: number, at: readonly (string | number)[], found: RecordFindings) {
  const { index, quantity, shippedQuantity, canceledQuantity } = line;
  if (shippedQuantity + canceledQuantity > quantity) {
    found.add(at, `has ${shippedQuantity} shipped and ${canceledQuantity} canceled of ${quantity} in line ${index}`);
  }
  if (shippedQuantity !== shipped) {
    found.add(at, `has ${shippedQuantity} shipped in line ${index}, but the shipments have ${shipped}`);
  }
}

function checkLine(
  { world }: CheckedOrganization,
  line: StoredLine,
  at: readonly (string | number)[],
  found: RecordFindings,
): void {
  const { productReference, imageReference } = line;
  found.names([...at, "productReference"], productReference, world.products);
  found.names([...at, "imageReference"], imageReference, world.images);
  const printed = world.products.get(productReference)?.printed ?? imageReference !== null;
  if (printed === (imageReference !== null)) return;
  found.add([...at, "imageReference"], printed ? "lacks the image of a printed product" : "has an image without print");
}

function checkOrder(organization: CheckedOrganization, order: StoredOrder, found: RecordFindings): void {
  const { stores, addresses, claims } = organization.world;
  const { dropshipAddressReference: address, shippingKind, settles, postponed } = order;
  found.names(["storeReference"], order.storeReference, stores);
  found.names(["dropshipAddressReference"], address, addresses);
  found.names(["settles"], settles, claims);
  if ((address === null) !== (shippingKind === "combined")) {
    found.add(
      ["dropshipAddressReference"],
      `is a ${shippingKind} order ${address === null ? "without" : "with"} address`,
    );
  }
  const claim = claims.get(settles);
  if (claim !== undefined && claim.replacement !== order.reference) {
    found.add(["settles"], `settles ${settles}, whose replacement is ${claim.replacement ?? "null"}`);
  }
  if (postponed !== null && postponed.order !== order.reference)
    found.add(["postponed"], `postpones ${postponed.order}`);
}

/** Checks the orders with their lines against what they refer to and what was shipped. */
function checkOrders(organization: CheckedOrganization): void {
  const shipped = shippedLines(organization);
  organization.each("orders", (order, found) => {
    checkOrder(organization, order, found);
    const quantities = shipped.get(order.reference);
    for (const [position, line] of order.lines.entries()) {
      const at = ["lines", position];
      if (line.index !== position + 1)
        found.add([...at, "index"], `has the index ${line.index} instead of ${position + 1}`);
      checkQuantities(line, quantities?.get(line.index) ?? 0, at, found);
      checkLine(organization, line, at, found);
    }
  });
}

/** Checks the shipments against the orders that they contain. */
function checkShipments(organization: CheckedOrganization): void {
  const { addresses, orders } = organization.world;
  organization.each("shipments", ({ parcels, addressReference }, found) => {
    found.names(["addressReference"], addressReference, addresses);
    for (const [position, { orderReference, lines }] of parcels.entries()) {
      const at = ["parcels", position];
      found.names([...at, "orderReference"], orderReference, orders);
      const ordered = orders.get(orderReference)?.lines;
      for (const { index } of ordered === undefined ? [] : lines) {
        if (ordered?.[index - 1] === undefined)
          found.add([...at, "lines"], `has line ${index}, which the order has not`);
      }
    }
  });
}

/** Checks how often each address is used: an address without a use is deleted. */
function checkAddresses(organization: CheckedOrganization): void {
  const uses = new Map<string, number>();
  const count = (reference: string | null) => {
    if (reference !== null) uses.set(reference, (uses.get(reference) ?? 0) + 1);
  };
  for (const order of organization.saved.orders) count(order.dropshipAddressReference);
  for (const shipment of organization.saved.shipments) count(shipment.addressReference);
  organization.each("addresses", (address, found) => {
    const used = uses.get(address.reference) ?? 0;
    if (used !== address.uses) {
      found.add(["uses"], `has \`uses\` ${address.uses}, but ${used} orders and shipments use it`);
    }
  });
}

const evidenceOf = ({ evidence, lines }: StoredClaim): readonly EvidenceReference[] => [
  ...evidence,
  ...lines.flatMap((line) => line.evidence),
];

/** Checks the lines of a claim against its shipment. */
function checkLines({ world }: CheckedOrganization, claim: StoredClaim, found: RecordFindings): void {
  const parcels = world.shipments.get(claim.shipmentReference)?.parcels ?? [];
  const categories = new Set<string>(world.claimcategories.map(({ reference }) => reference));
  for (const [position, line] of claim.lines.entries()) {
    const { orderReference, orderlineIndex, quantity, categoryReference } = line;
    const at = ["lines", position];
    const shipped = parcels
      .find((parcel) => parcel.orderReference === orderReference)
      ?.lines.find(({ index }) => index === orderlineIndex)?.quantity;
    if (shipped === undefined) {
      found.add(at, `claims line ${orderlineIndex} of ${orderReference}, which its shipment does not have`);
    } else if (quantity > shipped) {
      found.add([...at, "quantity"], `claims ${quantity} of ${shipped} shipped items`);
    }
    found.names([...at, "productReference"], line.productReference, world.products);
    found.names([...at, "imageReference"], line.imageReference, world.images);
    if (!categories.has(categoryReference)) {
      found.add([...at, "categoryReference"], `names ${categoryReference}, which the catalog does not have`);
    }
  }
}

/** Checks the decision of a claim, and its replacement. */
function checkDecision({ world }: CheckedOrganization, claim: StoredClaim, found: RecordFindings): void {
  const { decision, retracted, replacement, lines } = claim;
  if (decision !== null && retracted !== null) found.add(["retracted"], "is both decided and retracted");
  const replaced = world.orders.get(replacement);
  if (replaced !== undefined && replaced.settles !== claim.reference) {
    found.add(["replacement"], `names ${replacement}, which settles ${replaced.settles ?? "no claim"}`);
  }
  if (decision === null) return;
  if (decision.lines.length !== lines.length) {
    found.add(["decision", "lines"], `has ${decision.lines.length} decisions for ${lines.length} lines`);
    return;
  }
  for (const [position, { replacement: replacing, refund, rejection }] of decision.lines.entries()) {
    const decided = replacing + refund + rejection;
    const claimed = lines[position]?.quantity;
    if (decided !== claimed) found.add(["decision", "lines", position], `decides on ${decided} of ${claimed} items`);
  }
}

/** Checks the claims against their shipments, their orders and their evidence. */
function checkClaims(organization: CheckedOrganization): void {
  const { orders, shipments, keys, evidence } = organization.world;
  organization.each("claims", (claim, found) => {
    found.names(["orderReference"], claim.orderReference, orders);
    found.names(["replacement"], claim.replacement, orders);
    found.names(["shipmentReference"], claim.shipmentReference, shipments);
    found.names(["createdBy"], claim.createdBy, keys);
    if (shipments.get(claim.shipmentReference) !== undefined) checkLines(organization, claim, found);
    checkDecision(organization, claim, found);
    // Evidence that is purged is not in the world any more.
    for (const reference of evidenceOf(claim)) {
      const kept = evidence.get(reference);
      if (kept !== undefined && kept.claim !== claim.reference) {
        found.add(["evidence"], `has ${reference}, which belongs to ${kept.claim ?? "no claim"}`);
      }
    }
  });
}

/** Checks that evidence in use is that of its claim. */
function checkEvidence(organization: CheckedOrganization): void {
  const { claims } = organization.world;
  organization.each("evidence", ({ reference, claim: name }, found) => {
    found.names(["claim"], name, claims);
    const claim = claims.get(name);
    if (claim !== undefined && !evidenceOf(claim).includes(reference))
      found.add(["claim"], `is not evidence of ${name}`);
  });
}

/** Checks that each render has an image and a composition. */
function checkRenders(organization: CheckedOrganization): void {
  const { images, compositions } = organization.world;
  organization.each("renders", ({ compositionReference, imageReference }, found) => {
    found.names(["compositionReference"], compositionReference, compositions);
    found.names(["imageReference"], imageReference, images);
  });
}

interface ListedRecord {
  readonly reference: string;
}

/** Checks that a list has exactly the records of the catalog, which the seed of the world makes. */
function checkCatalogList(
  name: "products" | "items",
  saved: readonly ListedRecord[],
  catalog: readonly ListedRecord[],
  findings: Findings,
): void {
  const given = new Set<string>();
  const made = new Set(catalog.map(({ reference }) => reference));
  for (const [position, { reference }] of saved.entries()) {
    if (!made.has(reference)) findings.add([name, position], `${reference} is not in the catalog of the world's seed`);
    if (given.has(reference)) findings.add([name, position], `${reference} occurs more than once`);
    given.add(reference);
  }
  for (const reference of made) if (!given.has(reference)) findings.add([name], `lacks ${reference} of the catalog`);
}

/** Checks the levels of an organization's limits, and the permissions of its keys. */
function checkLimits(organization: CheckedOrganization, endpoints: readonly Endpoint[]): void {
  const { limits, rateLimits, rendertokens, rendertokenLimit } = organization.saved;
  for (const policy of policies) {
    const [tokens, { quota }] = [rateLimits[policy] ?? 0, limits[policy]];
    if (tokens > quota) organization.add(["rateLimits", policy], `has ${tokens} of ${quota} tokens`);
  }
  if (rendertokens.used > rendertokenLimit) {
    organization.add(["rendertokens", "used"], `is ${rendertokens.used} of ${rendertokenLimit} rendertokens`);
  }
  organization.each("keys", ({ permissions }, found) => {
    const unknown = unknownPattern(permissions ?? [], endpoints);
    if (unknown !== undefined) found.add(["permissions"], `has a permission for the unknown call ${unknown}`);
  });
}

/** Checks the faults, as they are checked when they are added. */
function checkFaults({ faults }: SavedWorld, endpoints: readonly Endpoint[], findings: Findings): void {
  const ids = new Set<number>();
  for (const [position, { id, fault, seen, hits }] of faults.entries()) {
    const issue = faultIssue(fault, endpoints);
    if (issue !== undefined) findings.add(["faults", position, "fault"], issue);
    if (hits > seen) findings.add(["faults", position, "hits"], `is ${hits}, but only ${seen} requests were seen`);
    if (ids.has(id)) findings.add(["faults", position, "id"], `${id} occurs more than once`);
    ids.add(id);
  }
}

type WorldList = readonly World[];

/** What a task is about, if the world does not have it. */
function missing(task: Task, worlds: WorldList, waiting: ReadonlySet<number>): string | undefined {
  switch (task.kind) {
    case "callback":
      return waiting.has(task.id) ? undefined : `the waiting callback ${task.id}`;
    case "reviewClaim":
      return worlds.some(({ claims }) => claims.get(task.claim)) ? undefined : task.claim;
    case "finishRender":
      return worlds.some(({ renders }) => renders.get(task.render)) ? undefined : task.render;
    default:
      return worlds.some(({ orders }) => orders.get(task.order)) ? undefined : task.order;
  }
}

function checkCallback(callback: SentCallback, worlds: WorldList, add: (field: string, message: string) => void): void {
  const { orderReference, storeReference, status, nextTryAt, tried, tries } = callback;
  const order = worlds.map(({ orders }) => orders.get(orderReference)).find((one) => one !== undefined);
  if (order === undefined) add("orderReference", `names ${orderReference}, which the world does not have`);
  else if (order.storeReference !== storeReference) {
    add("storeReference", `names ${storeReference}, but the store of the order is ${order.storeReference}`);
  }
  if ((status === "waiting") !== (nextTryAt !== null)) {
    add("nextTryAt", `must ${status === "waiting" ? "be a time" : "be null"} while the callback is ${status}`);
  }
  if (tried < tries.length) add("tried", `is ${tried}, but there are ${tries.length} tries`);
}

/** Checks the pending work and the callbacks: each task is about something, and each waiting callback has a task. */
function checkPending({ tasks, callbacks }: SavedWorld, worlds: WorldList, findings: Findings): void {
  const waiting = new Set(callbacks.filter(({ status }) => status === "waiting").map(({ id }) => id));
  const planned = new Set(tasks.map(({ task }) => (task.kind === "callback" ? task.id : undefined)));
  for (const [position, { task }] of tasks.entries()) {
    const subject = missing(task, worlds, waiting);
    if (subject === undefined) continue;
    findings.add(["tasks", position], `the task ${task.kind} is about ${subject}, which the world does not have`);
  }
  const ids = new Set<number>();
  for (const [position, callback] of callbacks.entries()) {
    const { id } = callback;
    const add = (field: string, message: string) => findings.add(["callbacks", position, field], message);
    if (ids.has(id)) add("id", `${id} occurs more than once`);
    ids.add(id);
    checkCallback(callback, worlds, add);
    if (waiting.has(id) && !planned.has(id)) add("status", `the callback ${id} waits, but no task sends it`);
  }
}

/** The lists whose references are unique. */
const lists = ["keys", "stores", ...listNames] as const;

type ListName = (typeof lists)[number];

/** Checks that the next reference of each kind is new. References of another seed have no number, and are never repeated. */
function checkCounters({ organizations, references }: SavedWorld, make: ReferenceMaker, findings: Findings): void {
  for (const name of listNames) {
    const saved = organizations.flatMap((organization) => organization[name].map(({ reference }) => reference));
    const kind = referenceKinds.find((one) => isReference(one, saved[0]));
    if (kind === undefined) continue;
    const counted = references[kind] ?? 0;
    const highest = saved.reduce((most, reference) => Math.max(most, make.numberOf(kind, reference) ?? 0), 0);
    if (highest > counted) {
      findings.add(["references", kind], `is ${counted}, but the world has reference number ${highest} of this kind`);
    }
  }
}

/** Reports the references of a list that occur more than once. A list whose table is as long has none, and is not searched. */
function checkList(name: ListName, saved: SavedOrganization, worlds: readonly World[], at: number, findings: Findings) {
  const [world, earlier] = [worlds[at], worlds.slice(0, at)];
  const records = saved[name];
  if (earlier.length === 0 && world?.[name].size === records.length) return;
  const seen = new Set<string>();
  for (const [position, { reference }] of records.entries()) {
    if (seen.has(reference) || earlier.some((other) => other[name].get(reference) !== undefined)) {
      findings.add(["organizations", at, name, position], `${reference} occurs more than once`);
    }
    seen.add(reference);
  }
}

/** Checks that no reference, name, key or store code occurs more than once, also not in two organizations. */
function checkUniqueness({ organizations }: SavedWorld, worlds: readonly World[], findings: Findings): void {
  for (const [at, organization] of organizations.entries()) {
    for (const name of lists) checkList(name, organization, worlds, at, findings);
  }
  const unique = (path: readonly string[], valuesOf: (organization: SavedOrganization) => readonly string[]) => {
    const seen = new Set<string>();
    for (const [at, organization] of organizations.entries()) {
      for (const value of valuesOf(organization)) {
        // A key is a secret: the message does not show it.
        if (seen.has(value)) findings.add(["organizations", at, ...path], "has a value that occurs more than once");
        seen.add(value);
      }
    }
  };
  unique(["name"], ({ name }) => [name]);
  unique(["keys", "secretKey"], ({ keys }) => keys.map(({ secretKey }) => secretKey));
  unique(["stores", "legacyCode"], ({ stores }) => stores.map(({ legacyCode }) => legacyCode));
}

/**
 * What is wrong with a saved world whose form is right: references to what does not exist, numbers that contradict each other, and
 * counters that would repeat references. `made` is the same world, made but not yet in use.
 */
export function inconsistencies(
  saved: SavedWorld,
  { worlds, catalog, make }: Worlds,
  endpoints: readonly Endpoint[],
): readonly Issue[] {
  const findings = new Findings();
  checkUniqueness(saved, worlds, findings);
  checkCatalogList("products", saved.products, catalog.products.all(), findings);
  checkCatalogList("items", saved.items, catalog.items.all(), findings);
  for (const [position, world] of worlds.entries()) {
    const organization = saved.organizations[position];
    if (organization === undefined) continue;
    const checked = new CheckedOrganization(organization, world, position, findings);
    checkOrders(checked);
    checkShipments(checked);
    checkAddresses(checked);
    checkClaims(checked);
    checkEvidence(checked);
    checkRenders(checked);
    checkLimits(checked, endpoints);
  }
  checkPending(saved, worlds, findings);
  checkCounters(saved, make, findings);
  checkFaults(saved, endpoints, findings);
  return findings.issues;
}
