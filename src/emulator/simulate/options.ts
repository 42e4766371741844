import * as z from "zod/mini";
import { ConfigurationError } from "../../errors/validation.ts";
import type { PodPartnerOptions } from "../../options.ts";
import type { Order } from "../../resources/orders/orders.endpoints.ts";
import { checkedConfiguration } from "../../schemas/check.ts";
import { count } from "../../schemas/shape.ts";
import type { KeyValueStorage } from "../../storage/contract.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { isFunction } from "../../util/foreign.ts";
import type { Emulator, EmulatorClientOptions } from "../server/emulator.ts";
import type { EmulatorOptions } from "../settings/options.ts";
import type { SimulatedDatabase } from "./database.ts";

/** What a life of a program has. All that it shares with other lives and programs goes through it. */
export interface SimulatedWorld<Database extends object = SimulatedDatabase> {
  /** The options of a client whose requests the simulation can lose, delay and refuse. */
  readonly clientOptions: EmulatorClientOptions & Pick<PodPartnerOptions, "hooks">;
  /** What all lives of all programs share, for the option `storage` of a client and a follower. It stays when a life ends. */
  readonly storage: KeyValueStorage;
  /** Your own data, which stays when a life ends: what the option `database` makes, or tables in memory. */
  readonly database: Database;
  /** Which life of the program it is, from 1 on. In `setUp` and `check` it is 0. */
  readonly life: number;
  /** The service. Its controls are for `setUp` and `check`, and for what your operator does. */
  readonly emulator: Emulator;
  /** The virtual time of this life. */
  readonly clock: PartnerClock;
  /** A number from 0 up to 1, the same each time that a schedule is replayed. */
  random(): number;
  /** Waits in virtual time. */
  sleep(ms: number): Promise<void>;
  /**
   * Receives the order-updated callbacks from now on, as the `fetch` of a receiver does. Without it, the service sends none. The simulation
   * goes on until all callbacks are delivered, also after the program has ended. The URL's `token` is `simulated-callback`.
   *
   * @example
   * world.serve(receiver.fetch);
   */
  serve(receive: (request: Request) => Response | Promise<Response>): void;
  /**
   * Says that your program has acted on this state of an order. Then it fails if it acts on an older state later, or never on the last one.
   *
   * @example
   * const follower = createOrderFollower({
   *   partner,
   *   storage: world.storage,
   *   clock: world.clock,
   *   onChange: async ({ order }) => {
   *     await world.database.put("orders", order.reference, order.status);
   *     world.handled(order);
   *   },
   * });
   */
  handled(order: Pick<Order, "reference" | "orderlines">): void;
}

/** One life of a program: it begins again after it was killed and after it rejects. */
export type SimulatedProgram<Database extends object = SimulatedDatabase> = (
  world: SimulatedWorld<Database>,
) => unknown;

/** Options of {@link simulate}. All are optional. */
export interface SimulateOptions<Database extends object = SimulatedDatabase> {
  /** How many schedules of faults are tried. Default 500. */
  readonly schedules?: number | undefined;
  /** The number that the schedules derive from: they are the same for the same number. Default 1. */
  readonly seed?: number | undefined;
  /** The line of a story, to run that schedule only. */
  readonly replay?: string | undefined;
  /** How often a program may begin in a schedule. Default 20. */
  readonly lives?: number | undefined;
  /** Fills the database and the service before each schedule, for example with the orders to place. No fault strikes it. */
  readonly setUp?: ((world: SimulatedWorld<Database>) => unknown) | undefined;
  /** Throws when something is wrong at the end of a schedule. No fault strikes it. */
  readonly check?: ((world: SimulatedWorld<Database>) => unknown) | undefined;
  /** Makes your own database before each schedule, for example `new DatabaseSync(":memory:")`. Each call of its methods is an operation. */
  readonly database?: (() => Database | Promise<Database>) | undefined;
  /** The options of the emulator, except for its clock. By default, it makes a second order for an identifier that is sent twice. */
  readonly emulator?: Omit<EmulatorOptions, "clock"> | undefined;
  /** Is called after each schedule. */
  readonly onProgress?: ((done: number, schedules: number) => void) | undefined;
}

const aFunction = <T>() => z.custom<T>(isFunction, { error: "expected a function" });

const schema = <Database extends object>() =>
  z.strictObject({
    schedules: z._default(count(1), 500),
    seed: z._default(count(0), 1),
    replay: z.optional(z.string()),
    lives: z._default(count(1), 20),
    setUp: z.optional(aFunction<NonNullable<SimulateOptions<Database>["setUp"]>>()),
    check: z.optional(aFunction<NonNullable<SimulateOptions<Database>["check"]>>()),
    database: z.optional(aFunction<NonNullable<SimulateOptions<Database>["database"]>>()),
    // The emulator checks them.
    emulator: z._default(z.custom<Omit<EmulatorOptions, "clock">>(), {}),
    onProgress: z.optional(aFunction<NonNullable<SimulateOptions<Database>["onProgress"]>>()),
  });

/** The options with their defaults, and the programs. */
export type SimulationSettings<Database extends object> = z.infer<ReturnType<typeof schema<Database>>> & {
  readonly programs: readonly SimulatedProgram<Database>[];
};

/** Checks the programs and the options. Throws a {@link ConfigurationError} with all faults. */
export function resolveSimulation<Database extends object>(
  given: SimulatedProgram<Database> | readonly SimulatedProgram<Database>[],
  options: SimulateOptions<Database>,
): SimulationSettings<Database> {
  const programs = typeof given === "function" ? [given] : given;
  if (!Array.isArray(programs) || programs.length === 0 || !programs.every(isFunction)) {
    const message = "expected a function, which is one life of the program, or several";
    throw new ConfigurationError({ issues: [{ path: ["program"], message }] }, "simulation");
  }
  return { ...checkedConfiguration(schema<Database>, options, "simulation"), programs };
}
