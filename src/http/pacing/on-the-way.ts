import type { Ticket } from "./ticket.ts";

/** Milliseconds after which every request has reached the service. */
export const longestArrival = 500;

/**
 * One request's way to the service is not longer than another's by more than this part of the longest time to an answer, within
 * these bounds in milliseconds.
 */
const arrival = { part: 0.5, least: 20, most: longestArrival };
/** Requests that may not have reached the service yet, in the order they were sent. */
export class OnTheWay {
  readonly #tickets = new Set<Ticket>();

  get size(): number {
    return this.#tickets.size;
  }

  add(ticket: Ticket): void {
    this.#tickets.add(ticket);
  }

  /** It has arrived: there is an answer, or there will be none. */
  delete(ticket: Ticket): void {
    this.#tickets.delete(ticket);
  }

  /** Lets those go that have surely arrived by now, calling back with each one's time before it goes. */
  settle(now: number, longestAnswer: number, arrived: (at: number) => void): void {
    if (this.#tickets.size === 0) return;
    const known = longestAnswer > 0;
    const after = known ? Math.min(arrival.most, Math.max(arrival.least, arrival.part * longestAnswer)) : arrival.most;
    for (const ticket of this.#tickets) {
      if (ticket.sentAt + after > now) return;
      arrived(ticket.sentAt + after);
      this.#tickets.delete(ticket);
    }
  }
}
