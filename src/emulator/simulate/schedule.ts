import { ConfigurationError } from "../../errors/validation.ts";

/** What can strike each kind of operation, with what the story says about it. */
export const faults = {
  request: {
    "lost-before": "the request is lost",
    lost: "the service carries it out, and the response is lost",
    slow: "the response is late",
    late: "the service carries it out late",
    gateway: "a gateway gives up after 1 s, and the service carries it out later",
    "429": "the service refuses it with 429 and a Retry-After",
    "503": "the service refuses it with 503",
    cut: "the service carries it out, and the body of the response is cut",
    stale: "a replica responds that lags behind",
    "kill-before": "the program is killed just before",
    kill: "the program is killed while the service works on it",
    suspend: "the program stands still until long after the response",
  },
  storage: {
    slow: "the storage is slow",
    lost: "the storage does it, and the result is lost",
    down: "the storage is down from here on",
    "kill-before": "the program is killed just before",
    kill: "the storage does it, and the program is killed",
    suspend: "the program stands still just before",
  },
  database: {
    slow: "the database is slow",
    lost: "the database does it, and the result is lost",
    down: "the database is down from here on",
    "kill-before": "the program is killed just before",
    kill: "the database does it, and the program is killed",
    suspend: "the program stands still just after",
  },
  callback: {
    twice: "it comes once more",
    late: "it comes an hour late",
    never: "it gets lost",
    kill: "the program is killed when it arrives",
  },
} as const;

/** What a fault can strike. */
export type OperationKind = keyof typeof faults;

/** A fault at an operation of a run: at the third request of all programs, for example. */
export interface SimulatedEvent {
  readonly at: OperationKind;
  /** Counts the operations of this kind from 1, of all programs and lives. */
  readonly nth: number;
  /** The name of what happens: `lost`. */
  readonly fault: string;
  /** What happens, as a sentence. */
  readonly text: string;
}

/** What goes wrong in a run, and when. The seed decides how long each thing takes, and so what comes first. */
export interface Schedule {
  readonly seed: number;
  readonly events: readonly SimulatedEvent[];
}

const letters = { request: "r", storage: "s", database: "d", callback: "c" } as const;
const kinds = Object.keys(letters) as readonly OperationKind[];
const eventForm = /^([rsdc])(\d+):([\w-]+)$/;

/** What can strike an operation, by the names of the faults. */
const faultsOf = (at: OperationKind, nth: number): readonly SimulatedEvent[] =>
  Object.entries(faults[at]).map(([fault, text]) => ({ at, nth, fault, text }));

/** A short name of an operation: `r3`. */
export const pointOf = (kind: OperationKind, nth: number): string => `${letters[kind]}${nth}`;

/** The schedule as one line: `7 r3:lost r5:kill`. */
export const lineOf = ({ seed, events }: Schedule): string =>
  [seed, ...events.map(({ at, nth, fault }) => `${pointOf(at, nth)}:${fault}`)].join(" ");

function readEvent(text: string): SimulatedEvent | undefined {
  const [, letter, nth, fault = ""] = eventForm.exec(text) ?? [];
  const at = kinds.find((kind) => letters[kind] === letter);
  return at === undefined ? undefined : faultsOf(at, Number(nth)).find((event) => event.fault === fault);
}

/** Reads the line of a schedule. Throws a {@link ConfigurationError} for another text. */
export function readSchedule(line: string): Schedule {
  const [seed = "", ...texts] = line.trim().split(/\s+/);
  const events = texts.map((text) => readEvent(text) ?? text);
  const wrong = [...(/^\d+$/.test(seed) ? [] : [seed]), ...events.filter((event) => typeof event === "string")];
  if (wrong.length > 0) {
    const message = `has ${JSON.stringify(wrong[0])}: expected the line of a story, such as "7 r3:lost r5:kill"`;
    throw new ConfigurationError({ issues: [{ path: ["replay"], message }] }, "simulation");
  }
  return { seed: Number(seed), events: events.filter((event) => typeof event !== "string") };
}

/** Numbers from 0 up to 1: the same ones for the same text. */
export function randomFrom(text: string): () => number {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What a run without faults has done: where faults can strike. */
export interface Space {
  readonly counts: Readonly<Record<OperationKind, number>>;
  /** The numbers of the requests that change something. */
  readonly changes: readonly number[];
}

/** Each fault alone, at each operation of the run without faults. */
const singles = ({ counts }: Space): readonly SimulatedEvent[] =>
  kinds.flatMap((at) => Array.from({ length: counts[at] }, (_, index) => faultsOf(at, index + 1)).flat());

/** Draws an event. A half of the faults of requests strike one that changes something: there the money is. */
function drawEvent(random: () => number, { counts, changes }: Space): SimulatedEvent | undefined {
  const below = (limit: number) => Math.floor(random() * limit);
  // Requests are three times as likely as the others.
  const bag = [...kinds, "request", "request"].filter(
    (kind): kind is OperationKind => counts[kind as OperationKind] > 0,
  );
  const at = bag[below(bag.length)] ?? "request";
  // Faults make a run longer.
  const anywhere = 1 + below(Math.ceil(counts[at] * 1.3) + 2);
  const change = changes[below(changes.length)];
  const nth = at === "request" && change !== undefined && random() < 0.5 ? change + below(2) : anywhere;
  const all = faultsOf(at, nth);
  return all[below(all.length)];
}

/** Where an event is: the way of an operation has room for one fault, and the life that began it for another one. */
const placeOf = ({ at, nth, fault }: SimulatedEvent): string =>
  `${pointOf(at, nth)} ${/^(kill|suspend)/.test(fault) ? "life" : "way"}`;

const byPlace = (one: SimulatedEvent, other: SimulatedEvent) =>
  kinds.indexOf(one.at) - kinds.indexOf(other.at) || one.nth - other.nth;

/** Draws a second event near the first one, and others anywhere. */
function drawEvents(random: () => number, space: Space, size: number): readonly SimulatedEvent[] {
  const events = new Map<string, SimulatedEvent>();
  for (let count = 0; count < size; count += 1) {
    const [last] = [...events.values()].slice(-1);
    const drawn = drawEvent(random, space);
    if (drawn === undefined) continue;
    const near = last?.at === drawn.at && random() < 0.5;
    const event = near ? { ...drawn, nth: last.nth + Math.floor(random() * 4) } : drawn;
    events.set(placeOf(event), event);
  }
  return [...events.values()].sort(byPlace);
}

/**
 * The schedules of a simulation. First each fault alone, evenly chosen when there are more than half of the schedules, and each pair
 * when there are few. Then random ones, with two events at first and up to six in the end.
 */
export function* schedulesOf(seed: number, count: number, space: Space): Generator<Schedule> {
  const all = singles(space);
  const isSmall = all.length ** 2 <= count;
  const pairs = (isSmall ? all : []).flatMap((one, index) =>
    all.slice(index + 1).flatMap((other) => (placeOf(one) === placeOf(other) ? [] : [[one, other]])),
  );
  const systematic = [...all.map((event) => [event]), ...pairs];
  const chosen = Math.min(systematic.length, Math.ceil(count / 2));
  for (let index = 0; index < chosen; index += 1) {
    const events = systematic[Math.floor((index * systematic.length) / chosen)] ?? [];
    yield { seed, events };
  }
  const random = randomFrom(`schedules ${seed}`);
  for (let index = chosen; index < count; index += 1) {
    const most = 2 + Math.floor((5 * (index - chosen)) / (count - chosen));
    const size = 1 + Math.floor(random() * most);
    yield { seed: seed + index, events: drawEvents(random, space, size) };
  }
}
