import type { PartnerClock } from "../../util/clock.ts";
import { propertyOf, textOf, wordsOf } from "../../util/foreign.ts";
import type { CallbackTry } from "./callback.ts";
import type { CallbackSettings } from "./options.ts";

/** A try in progress. */
export interface SendingCallback {
  readonly result: Promise<Omit<CallbackTry, "at">>;
  /** Ends the try at once. Its result has the reason as error. */
  stop(reason: string): void;
}

/** The platform's `fetch` hides the error of the connection in `cause`. */
function reasonOf(error: unknown): string {
  const cause = propertyOf(error, "cause") ?? error;
  return textOf(cause, "code") ?? wordsOf(cause);
}

/** Sends a callback once: a GET without a body. A redirect is not followed. The result never rejects. */
export function sendCallback(url: string, settings: CallbackSettings, wire: PartnerClock): SendingCallback {
  const { fetch, timeout } = settings;
  const controller = new AbortController();
  // A `fetch` of the options can ignore the signal, so the end does not depend on it.
  const ended = Promise.withResolvers<never>();
  const stop = (reason: string) => {
    ended.reject(new Error(reason));
    controller.abort(new Error(reason));
  };
  const send = async () => {
    const response = await fetch(new Request(url, { redirect: "manual", signal: controller.signal }));
    // Only the status counts. An unread body would keep the connection busy.
    response.body?.cancel().catch(() => {});
    return response.status;
  };
  const run = async () => {
    const started = wire.now();
    const cancel = wire.after(timeout, () => stop(`no response within ${timeout} ms`));
    const duration = () => Math.round(wire.now() - started);
    try {
      const status = await Promise.race([send(), ended.promise]);
      return { status, error: null, duration: duration() };
    } catch (error) {
      return { status: null, error: reasonOf(error), duration: duration() };
    } finally {
      cancel();
    }
  };
  return { result: run(), stop };
}

/** A try that is not sent, because its receiver did not respond for some time while the clock moved. */
export const skippedCallback: SendingCallback = {
  result: Promise.resolve({
    status: null,
    error: "not sent: 3 tries of this move of the clock got no response",
    duration: 0,
  }),
  stop: () => {},
};
