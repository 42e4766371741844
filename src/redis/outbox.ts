import type { PolicyReport } from "../http/pacing/headers.ts";
import type { HeardAnswer, Stamp } from "./protocol.ts";

/** What the fleet does not know yet of one policy. */
interface Item {
  readonly answers: HeardAnswer[];
  unused: number;
  heldUntil: number;
}

/** The latest answers tell all that matters. */
const mostAnswers = 32;

/** What this process has to tell the fleet, by policy. */
export class Outbox {
  readonly #items = new Map<string, Item>();

  /** The policies that there is something to tell of. */
  get policies(): readonly string[] {
    return [...this.#items.keys()];
  }

  answer(policy: string, stamp: Stamp, report: PolicyReport | undefined): void {
    const { answers } = this.#item(policy);
    answers.push({ ...stamp, quota: report?.quota, window: report?.window, remaining: report?.remaining });
    if (answers.length > mostAnswers) answers.shift();
  }

  hasAnswer(policy: string): boolean {
    return (this.#items.get(policy)?.answers.length ?? 0) > 0;
  }

  giveBack(policy: string, unused: number): void {
    this.#item(policy).unused += unused;
  }

  hold(policy: string, until: number): void {
    const item = this.#item(policy);
    item.heldUntil = Math.max(item.heldUntil, until);
  }

  /** There are fewer requests on their way. */
  stir(policy: string): void {
    this.#item(policy);
  }

  /** What there is to tell of a policy; it counts as told. */
  take(policy: string, now: number): { answers: readonly HeardAnswer[]; unused: number; hold: number } {
    const item = this.#items.get(policy);
    this.#items.delete(policy);
    return {
      answers: item?.answers ?? [],
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
      item = { answers: [], unused: 0, heldUntil: 0 };
      this.#items.set(policy, item);
    }
    return item;
  }
}
