import type { PolicyReport } from "../http/pacing/headers.ts";
import type { AskedPolicy, Reply, ReportedLevel, Stamp } from "./protocol.ts";

/** The maximum number of reports that wait for a visit: the latest ones suffice. */
const maxReports = 32;

type KnownLevel = Reply["policies"][number] & { readonly knownAt: number };

/** One policy's shared bucket, as this process knows it from its latest visit, and what it will report at the next one. */
export class SharedBucket {
  /** Undefined before the first visit. */
  #known: KnownLevel | undefined;
  #heldUntil = 0;
  #reports: ReportedLevel[] = [];
  #unused = 0;
  /** The end of a hold that the fleet does not know yet. */
  #newHold = 0;
  #changed = false;

  /** Whether there is something to report. */
  get changed(): boolean {
    return this.#changed;
  }

  /** Whether this process will report a level. */
  get hasReport(): boolean {
    return this.#reports.length > 0;
  }

  /** Adds what a response reports, with the stamp of its request's grant. */
  addReport(stamp: Stamp, report: PolicyReport | undefined): void {
    this.#changed = true;
    this.#reports.push({ ...stamp, quota: report?.quota, window: report?.window, remaining: report?.remaining });
    if (this.#reports.length > maxReports) this.#reports.shift();
  }

  /** Notes unused tokens to return, and that the number of requests in flight may have changed. */
  returnTokens(unused: number): void {
    this.#changed = true;
    this.#unused += unused;
  }

  hold(until: number): void {
    this.#changed = true;
    this.#heldUntil = Math.max(this.#heldUntil, until);
    this.#newHold = Math.max(this.#newHold, until);
  }

  /** Returns what there is to report. It counts as reported from now on. */
  takeReports(now: number): Pick<AskedPolicy, "born" | "unused" | "reports" | "hold"> {
    const reports = this.#reports;
    const unused = this.#unused;
    const hold = Math.max(0, this.#newHold - now);
    this.dropReports();
    return { born: this.#known?.born ?? 0, unused, reports, hold };
  }

  dropReports(): void {
    this.#changed = false;
    this.#reports = [];
    this.#unused = 0;
    this.#newHold = 0;
  }

  /** Learns from a visit that granted `granted` tokens. Returns whether the bucket was replaced since the visit before. */
  observe(known: Reply["policies"][number], granted: number, now: number): boolean {
    const before = this.#known?.born ?? 0;
    this.#known = { ...known, level: known.level - granted, knownAt: now };
    return known.born !== before;
  }

  /** The number of processes that use it. */
  get active(): number {
    return this.#known?.active ?? 1;
  }

  /** Milliseconds until a hold ends; 0 without one. */
  held(now: number): number {
    return Math.max(0, this.#heldUntil - now);
  }

  /** Whether all processes wait for the response that reports the level. */
  get probing(): boolean {
    return this.#known?.heard === false;
  }

  /** Whether clients besides the fleet use it. */
  get shared(): boolean {
    return this.#known?.pace !== undefined;
  }

  /** Tokens that can be used now, and milliseconds until the next one; undefined before the first visit. */
  level(now: number): { readonly remaining: number; readonly nextTokenIn: number } | undefined {
    if (this.#known === undefined) return undefined;
    const { quota, window, level: before, knownAt } = this.#known;
    const level = Math.min(quota, before + ((now - knownAt) * quota) / window);
    const held = this.held(now);
    const remaining = held > 0 ? 0 : Math.max(0, Math.floor(level));
    return { remaining, nextTokenIn: remaining > 0 ? 0 : Math.max(held, ((1 - level) * window) / quota) };
  }

  /** Milliseconds until the next token; 0 when the time is unknown; undefined before the first visit. */
  distance(now: number): number | undefined {
    const level = this.level(now);
    if (this.#known === undefined || level === undefined) return undefined;
    const { heard, quota, window } = this.#known;
    return heard ? Math.min(level.nextTokenIn, window / quota) : 0;
  }

  /** Milliseconds until this number of tokens has come to this process; undefined before the first visit. */
  until(tokens: number, now: number): number | undefined {
    const level = this.level(now);
    if (this.#known === undefined || level === undefined) return undefined;
    const { active, quota, window, pace } = this.#known;
    // New tokens, and the fleet's turns beside other clients, are divided among the active processes.
    const refill = (active * window) / quota;
    const ms = tokens <= level.remaining ? 0 : level.nextTokenIn + (tokens - level.remaining) * refill;
    return pace === undefined ? ms : Math.max(ms, this.held(now) + tokens * active * pace);
  }
}
