import type { OrderReference } from "../references/references.ts";
import { Automation } from "./automation/automation.ts";
import { orderUpdatedUrl } from "./callbacks/order-updated-url.ts";
import { Outbox } from "./callbacks/outbox.ts";
import { createCatalog } from "./catalog/catalog.ts";
import { createOrganization, type StoredKey } from "./catalog/organization.ts";
import { type Agenda, createAgenda } from "./clock/agenda.ts";
import { createEmulatorClock, type WorldClock } from "./clock/emulator-clock.ts";
import type { FaultList } from "./faults/faults.ts";
import type { Settings } from "./options.ts";
import type { RequestLog } from "./recorder/logged-request.ts";
import { type Checkpoints, createCheckpoints } from "./state/checkpoints.ts";
import { createReferenceMaker } from "./state/reference-maker.ts";
import { loadOrganization, type SavedWorld, saveItem, saveOrganization, saveProduct } from "./state/saved-world.ts";
import { seedOrders } from "./state/seed.ts";
import type { Task } from "./state/task.ts";
import { createWorld, type World } from "./state/world.ts";

type Identity = Pick<Settings, "seed" | "environment">;

/** Makes the catalog and the organizations without orders. */
function createWorlds(
  settings: Settings,
  parts: Pick<Emulation, "clock" | "agenda" | "automation">,
  { seed, environment }: Identity,
) {
  const make = createReferenceMaker({ seed, environment });
  const catalog = createCatalog(make, settings.pageSize);
  const demo = createOrganization(make, environment, settings.secretKey);
  for (const store of demo.stores.values()) store.callbackUrl ??= settings.callbackUrl ?? null;
  const worlds: readonly [World, ...World[]] = [createWorld({ settings, ...parts, make, catalog }, demo)];
  return { identity: { seed, environment }, make, catalog, worlds };
}

/** The emulated service without its HTTP: its clock, its organizations, its faults, its log and its pending work. */
export class Emulation {
  readonly settings: Settings;
  readonly faults: FaultList;
  readonly requests: RequestLog;
  readonly clock: WorldClock;
  readonly agenda: Agenda<Task>;
  readonly automation: Automation;
  readonly callbacks: Outbox;
  readonly checkpoints: Checkpoints;
  readonly #listeners = new Set<() => void>();
  #current: ReturnType<typeof createWorlds>;

  /** `carryOut` does the work that is due. */
  constructor(
    settings: Settings,
    { faults, requests }: Pick<Emulation, "faults" | "requests">,
    carryOut: (emulation: Emulation, task: Task) => void,
  ) {
    this.settings = settings;
    this.faults = faults;
    this.requests = requests;
    this.clock = createEmulatorClock(settings.clock);
    this.agenda = createAgenda<Task>(this.clock, (task) => carryOut(this, task));
    this.automation = new Automation(this.clock, this.agenda, settings.automation);
    this.callbacks = new Outbox({
      clock: this.clock,
      agenda: this.agenda,
      settings: settings.callbacks,
      urlOf: (order) => this.#callbackUrlOf(order),
      onChange: () => this.changed(),
    });
    this.checkpoints = createCheckpoints(
      () => this.save(),
      (saved) => this.load(saved),
    );
    this.#current = this.#start();
  }

  /** Calls the listener after each control. Returns a function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** A control has changed the state. */
  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  /** One for each organization. `load` and `reset` replace them. */
  get worlds(): readonly [World, ...World[]] {
    return this.#current.worlds;
  }

  /** Finds the world and the key that a secret key belongs to. */
  authenticate(secretKey: string | null): { readonly world: World; readonly key: StoredKey } | undefined {
    for (const world of this.worlds) {
      for (const key of world.keys.values()) if (key.secretKey === secretKey) return { world, key };
    }
    return undefined;
  }

  /** The whole state as JSON: a copy, which later changes do not reach. */
  save(): SavedWorld {
    const { identity, make, catalog, worlds } = this.#current;
    const saved: SavedWorld = {
      version: 1,
      ...identity,
      clock: this.clock.save(),
      references: make.save(),
      products: catalog.products.all().map(saveProduct),
      items: catalog.items.all().map(saveItem),
      faults: this.faults.list(),
      tasks: [...this.callbacks.saveDeliveries(), ...this.agenda.save()],
      automation: this.automation.options,
      callbacks: this.callbacks.save(),
      organizations: worlds.map(saveOrganization),
    };
    return JSON.parse(JSON.stringify(saved));
  }

  /** Replaces the whole state. Later changes do not reach the argument. */
  load(given: SavedWorld): void {
    const saved: SavedWorld = JSON.parse(JSON.stringify(given));
    this.clock.load(saved.clock);
    this.#current = createWorlds(this.settings, this, saved);
    const { make, catalog, worlds } = this.#current;
    make.load(saved.references);
    for (const product of saved.products) Object.assign(catalog.products.get(product.reference) ?? {}, product);
    for (const item of saved.items) Object.assign(catalog.items.get(item.reference) ?? {}, item);
    this.faults.load(saved.faults);
    this.automation.options = saved.automation;
    this.callbacks.load(saved.callbacks);
    this.agenda.load(saved.tasks);
    for (const [position, organization] of saved.organizations.entries()) {
      const world = worlds[position];
      if (world !== undefined) loadOrganization(world, organization);
    }
  }

  /** Replaces the whole state by that of the start. The time is that of the clock of the options again. */
  reset(): void {
    this.clock.load({ time: this.settings.clock.now(), speed: 1 });
    this.faults.clear();
    this.automation.options = this.settings.automation;
    this.callbacks.load([]);
    this.agenda.load([]);
    this.#current = this.#start();
  }

  #callbackUrlOf(reference: OrderReference): string | undefined {
    for (const world of this.worlds) {
      const order = world.orders.get(reference);
      if (order !== undefined) return orderUpdatedUrl(world, order, this.settings.callbacks.aliases);
    }
    return undefined;
  }

  #start() {
    const started = createWorlds(this.settings, this, this.settings);
    seedOrders(started.worlds[0], this.settings.orders);
    return started;
  }
}
