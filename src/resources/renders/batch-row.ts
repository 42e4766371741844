import type { TimelineEntry } from "../../errors/base.ts";
import { PodPartnerError } from "../../errors/base.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, Send, WithResponse } from "../../http/send.ts";
import type { ClientStorage } from "../../storage/client-storage.ts";
import type { PartnerClock } from "../../util/clock.ts";
import type { Slots } from "../../util/concurrency.ts";
import type { WaitOptions } from "./render-waiting.ts";

/** A row of a batch in progress. */
export interface BatchRow {
  readonly row: unknown;
  /** The name of all its calls. */
  readonly callId: string;
  /** Ends its waits and its reads: the caller left the loop, or aborted the signal of the batch. */
  readonly signal: AbortSignal;
  /** Says that the row only waits from now on, so that another one can start. */
  readonly waits: () => void;
  /** The options of its creation, which is finished also if the caller leaves the loop. */
  readonly creating: () => RequestOptions;
  /** The options of a request that only reads. */
  readonly reading: () => RequestOptions;
  /** Milliseconds for a wait that begins now. */
  readonly waitTime: () => number;
}

/** What the rows of a batch work with. */
export interface BatchTools {
  readonly send: Send;
  readonly clock: PartnerClock;
  readonly storage: ClientStorage;
  readonly requests: RequestCount;
  /** The places of looks and of pictures. */
  readonly slots: Slots;
  /** Milliseconds between two reads of a render's status. */
  readonly interval: number;
  readonly onPending: WaitOptions["onPending"];
  /**
   * Milliseconds from the request for a picture until it is closed, unless the caller has received it. They count from the request, because
   * its `timeout` does, and because pictures that share a connection wait for each other.
   */
  readonly patience: number;
}

/** The attempts of a call. */
export const attemptsOf = (timeline: readonly TimelineEntry[]) => timeline.filter(({ step }) => step === "attempt");

/** The timeline of an error; empty if it is none of the SDK's. */
export const timelineOf = (error: unknown) => (error instanceof PodPartnerError ? error.timeline : []);

/** Counts the requests of a batch, with their retries. */
export class RequestCount {
  total = 0;

  async of<Data>(call: ApiCall<Data>): Promise<WithResponse<Data>> {
    try {
      const result = await call.withResponse();
      this.total += attemptsOf(result.timeline).length;
      return result;
    } catch (error) {
      this.total += attemptsOf(timelineOf(error)).length;
      throw error;
    }
  }
}
