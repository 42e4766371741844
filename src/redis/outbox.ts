import type { PolicyReport } from "../http/pacing/headers.ts";
import type { ReportedLevel, Stamp } from "./protocol.ts";

/** What the fleet does not know yet about one policy. */
interface Item {
  readonly reports: ReportedLevel[];
  unused: number;
  heldUntil: number;
}

/** The maximum number of reports: the latest ones suffice. */
const maxReports = 32;

/** What this process will report to the fleet, by policy. */
export class Outbox {
  readonly #items = new Map<string, Item>();

  /** The policies with something to report. */
  get policies(): readonly string[] {
    return [...this.#items.keys()];
  }

  add(policy: string, stamp: Stamp, report: PolicyReport | undefined): void {
    const { reports } = this.#item(policy);
    reports.push({ ...stamp, quota: report?.quota, window: report?.window, remaining: report?.remaining });
    if (reports.length > maxReports) reports.shift();
  }

  hasReport(policy: string): boolean {
    return (this.#items.get(policy)?.reports.length ?? 0) > 0;
  }

  returnTokens(policy: string, unused: number): void {
    this.#item(policy).unused += unused;
  }

  hold(policy: string, until: number): void {
    const item = this.#item(policy);
    item.heldUntil = Math.max(item.heldUntil, until);
  }

  /** Marks the number of requests in flight for the next report. */
  touch(policy: string): void {
    this.#item(policy);
  }

  /** Removes and returns what there is to report about a policy. */
  take(policy: string, now: number): { reports: readonly ReportedLevel[]; unused: number; hold: number } {
    const item = this.#items.get(policy);
    this.#items.delete(policy);
    return {
      reports: item?.reports ?? [],
      unused: item?.unused ?? 0,
      hold: Math.max(0, (item?.heldUntil ?? 0) - now),
    };
  }

  clear(): void {
    this.#items.clear();
  }

  #item(policy: string): Item {
    let item = this.#items.get(policy);
    if (item === undefined) {
      item = { reports: [], unused: 0, heldUntil: 0 };
      this.#items.set(policy, item);
    }
    return item;
  }
}
