import type { OrderReference } from "../../references/references.ts";
import { dateOf } from "../../util/clock.ts";
import { ControlError } from "../base/control-error.ts";
import type { Lifetime } from "../base/messages.ts";
import { jsonCopy } from "../base/table.ts";
import type { StoredKey } from "../catalog/organization.ts";
import { createEmulatorClock, type WorldClock } from "../clock/emulator-clock.ts";
import type { FaultList } from "../faults/faults.ts";
import type { RequestLog } from "../recorder/logged-request.ts";
import type { EmulatorOptions, Settings } from "../settings/options.ts";
import type { SeedRecords } from "../settings/seed.ts";
import { type Agenda, createAgenda } from "../work/agenda.ts";
import { Automation } from "../work/automation.ts";
import type { SentCallback } from "../work/callback.ts";
import { CallbackOutbox } from "../work/outbox.ts";
import type { Task } from "../work/records.ts";
import { orderUpdatedUrl } from "./order-updated-url.ts";
import {
  baseOfSaved,
  isBaseOf,
  loadOrganization,
  planOfSaved,
  type SavedWorld,
  saveItem,
  saveOrganization,
  saveProduct,
} from "./saved-world.ts";
import { type Base, createBase, createWorlds, type World, type Worlds } from "./world.ts";

/** The isolated worlds of a port as the controls use them. */
export interface IsolatedWorlds {
  readonly names: readonly string[];
  create(options: { readonly name?: string; readonly seed?: NonNullable<EmulatorOptions["seed"]> }): {
    readonly name: string;
    readonly baseUrl: string;
    readonly secretKey: string;
  };
  remove(name: string): void;
}

/** States that were kept under a name. */
interface Checkpoints {
  readonly names: readonly string[];
  /** Throws a {@link ControlError} when there are too many. */
  keep(name: string): void;
  /** Goes back to a state. Throws a {@link ControlError} for an unknown name. */
  rewind(name: string): void;
}

/** Each is a copy of the whole state. */
const maxCheckpoints = 256;

/** Makes a list of checkpoints without entries. */
function createCheckpoints(save: () => SavedWorld, load: (saved: SavedWorld) => void): Checkpoints {
  const kept = new Map<string, SavedWorld>();
  return {
    get names() {
      return [...kept.keys()];
    },
    keep: (name) => {
      if (kept.size >= maxCheckpoints && !kept.has(name))
        throw new ControlError(`There are ${maxCheckpoints} checkpoints: use a name again`);
      kept.set(name, save());
    },
    rewind: (name) => {
      const saved = kept.get(name);
      if (saved === undefined) throw new ControlError(`There is no checkpoint named ${name}`);
      load(saved);
    },
  };
}

/** What has changed: a control that ran, a callback whose try has ended, or the log of requests, which was cleared. */
export type Change =
  | "cleared"
  | { readonly control: object; readonly input: unknown; readonly result: unknown }
  | { readonly callback: SentCallback };

/** What changes the records of the service: the controls import this file, so it does not import them. */
interface OperatorWork {
  /** Does the work that is due. */
  readonly carryOut: (emulation: Emulation, task: Task) => void;
  /** Adds the records of the start. */
  readonly plant: (emulation: Emulation, seed: SeedRecords) => void;
}

/** The emulated service without its HTTP: its clock, its organizations, its faults, its log and its pending work. */
export class Emulation {
  readonly settings: Settings;
  readonly faults: FaultList;
  readonly requests: RequestLog;
  readonly clock: WorldClock;
  readonly agenda: Agenda<Task>;
  readonly automation: Automation;
  readonly callbacks: CallbackOutbox;
  readonly checkpoints: Checkpoints;
  /** Every key that the emulator has or had: the log does not show them. */
  readonly keys = new Set<string>();
  readonly #listeners = new Set<(change: Change | undefined) => void>();
  /** The isolated worlds beside this one, on the same port. */
  parallel: IsolatedWorlds | undefined;
  readonly #plant: (emulation: Emulation, seed: SeedRecords) => void;
  #current: Worlds;

  constructor(
    settings: Settings,
    { faults, requests }: Pick<Emulation, "faults" | "requests">,
    { carryOut, plant }: OperatorWork,
  ) {
    this.settings = settings;
    this.faults = faults;
    this.requests = requests;
    this.#plant = plant;
    this.clock = createEmulatorClock(settings.clock, () => this.changed());
    this.agenda = createAgenda<Task>(this.clock, (task) => carryOut(this, task));
    this.automation = new Automation(this.clock, this.agenda, settings.automation);
    this.callbacks = new CallbackOutbox({
      clock: this.clock,
      agenda: this.agenda,
      settings: settings.callbacks,
      urlOf: (order) => this.#callbackUrlOf(order),
      onChange: (callback) => this.changed({ callback }),
    });
    this.checkpoints = createCheckpoints(
      () => this.save(),
      (saved) => this.load(jsonCopy(saved)),
    );
    this.#current = this.#start();
    this.#rememberKeys();
    plant(this, settings.records);
  }

  /** Calls the listener after each change of the state, with what it was if that is known. Returns a function that removes it. */
  onChange(listener: (change: Change | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The state has changed. */
  changed(change?: Change): void {
    for (const listener of this.#listeners) listener(change);
  }

  /** Ends when `load`, `reset` or `rewind` replaces the state. */
  get lifetime(): Lifetime {
    return this.#current.lifetime;
  }

  /** One for each organization. `load` and `reset` replace them. */
  get worlds(): readonly [World, ...World[]] {
    return this.#current.worlds;
  }

  /** Finds the world and the key that a secret key belongs to. */
  authenticate(secretKey: string | null): { readonly world: World; readonly key: StoredKey } | undefined {
    for (const world of this.worlds) {
      for (const key of world.keys.values()) if (key.secretKey === secretKey && !key.revoked) return { world, key };
    }
    return undefined;
  }

  /** The whole state as JSON: a copy, which later changes do not reach. */
  save(): SavedWorld {
    const { origin, make, catalog, worlds } = this.#current;
    const saved: SavedWorld = {
      version: 1,
      ...origin,
      clock: this.clock.save(),
      references: make.save(),
      products: catalog.products.all().map(saveProduct),
      addedProducts: catalog.added,
      items: catalog.items.all().map(saveItem),
      faults: this.faults.list(),
      tasks: [...this.callbacks.saveDeliveries(), ...this.agenda.save()],
      automation: this.automation.options,
      callbacks: this.callbacks.save(),
      organizations: worlds.map(saveOrganization),
    };
    return jsonCopy(saved);
  }

  /** Replaces the whole state by a saved one, whose records become those of the emulator. `check` throws before anything is replaced. */
  load(saved: SavedWorld, check: (made: Worlds) => void = () => {}): void {
    const [demo, ...others] = saved.organizations.map(planOfSaved);
    if (demo === undefined) throw new TypeError("A saved world has at least one organization");
    const next = createWorlds(this.#parts(), [demo, ...others], this.#baseOf(saved));
    for (const [position, organization] of saved.organizations.entries()) {
      const world = next.worlds[position];
      if (world !== undefined) loadOrganization(world, organization);
    }
    check(next);
    this.#replace(next);
    this.clock.load(saved.clock);
    const { make, catalog } = next;
    make.load(saved.references);
    for (const product of saved.products) Object.assign(catalog.products.get(product.reference) ?? {}, product);
    for (const item of saved.items) Object.assign(catalog.items.get(item.reference) ?? {}, item);
    this.faults.load(jsonCopy(saved.faults));
    this.automation.options = saved.automation;
    this.callbacks.load(saved.callbacks);
    this.agenda.load(saved.tasks);
  }

  /** Replaces the whole state by that of the start. The time is that of the clock of the options again. */
  reset(): void {
    this.clock.load({ time: dateOf(this.settings.clock), speed: 1 });
    this.faults.clear();
    this.automation.options = this.settings.automation;
    this.callbacks.load([]);
    this.agenda.load([]);
    this.#replace(this.#start());
    this.#plant(this, this.settings.records);
  }

  #replace(next: Worlds): void {
    this.#current.lifetime.end();
    this.#current = next;
    this.#rememberKeys();
  }

  #rememberKeys(): void {
    for (const world of this.worlds) for (const { secretKey } of world.keys.values()) this.keys.add(secretKey);
  }

  #callbackUrlOf(reference: OrderReference): string | undefined {
    for (const world of this.worlds) {
      const order = world.orders.get(reference);
      if (order !== undefined) return orderUpdatedUrl(world, order, this.settings.callbacks.aliases);
    }
    return undefined;
  }

  #start() {
    return createWorlds(this.#parts(), this.settings.organizations, createBase(this.settings, this.settings.pageSizes));
  }

  #parts() {
    const { settings, clock, agenda, automation } = this;
    return { settings, clock, agenda, automation };
  }

  /** The current catalog when its records are those of the saved world: to make one takes longer than all else of a small world. */
  #baseOf(saved: SavedWorld): Base {
    return isBaseOf(this.#current, saved) ? this.#current : baseOfSaved(saved, this.settings.pageSizes);
  }
}
