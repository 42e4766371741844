import type { Agenda } from "../clock/agenda.ts";
import type { WorldClock } from "../clock/emulator-clock.ts";
import { type Duration, spanOf } from "../clock/point-in-time.ts";
import type { StoredClaim, StoredOrder } from "../records/records.ts";
import type { Task } from "../records/task.ts";
import type { AutomationOptions } from "./options.ts";

/** Puts what the operator does by itself into the agenda. */
export class Automation {
  readonly #clock: WorldClock;
  readonly #agenda: Agenda<Task>;
  options: AutomationOptions;

  constructor(clock: WorldClock, agenda: Agenda<Task>, options: AutomationOptions) {
    this.#clock = clock;
    this.#agenda = agenda;
    this.options = options;
  }

  /** Plans the next step of an order: its production, or the shipment of a part. */
  planOrder({ reference: order, inProduction }: StoredOrder, part = 1): void {
    const { production, shipping } = this.options;
    if (production !== undefined && !inProduction) this.#plan(production, { kind: "startProduction", order });
    else if (shipping !== undefined) this.#plan(shipping, { kind: "ship", order, part });
  }

  /** Plans the review of a claim. */
  planReview({ reference: claim }: StoredClaim): void {
    const { review } = this.options;
    if (review !== undefined) this.#plan(review.after, { kind: "reviewClaim", claim });
  }

  /** Removes the planned step of an order. */
  forgetOrder({ reference }: StoredOrder): void {
    this.#agenda.remove((task) => "order" in task && task.order === reference);
  }

  /** Removes all planned steps and reviews. */
  forgetAll(): void {
    this.#agenda.remove(({ kind }) => kind === "startProduction" || kind === "ship" || kind === "reviewClaim");
  }

  #plan(after: number | Duration, task: Task): void {
    this.#agenda.add(this.#clock.now() + spanOf(after), task);
  }
}
