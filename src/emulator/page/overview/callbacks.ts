import type { CallbackTry, SentCallback } from "../../callbacks/callback.ts";
import type { World } from "../../state/world.ts";
import { newest } from "./newest.ts";
import { nameOfOrder } from "./orders.ts";
import type { CallbackView, Listed, TryView } from "./view.ts";

const tryView = ({ at, status, error, duration }: CallbackTry): TryView => ({
  at,
  outcome: status === null ? (error ?? "no response") : String(status),
  ok: status !== null && status >= 200 && status < 300,
  duration,
});

const view =
  (world: World) =>
  ({ id, orderReference, url, status, nextTryAt, tried, tries }: SentCallback): CallbackView => ({
    id,
    order: orderReference,
    orderName: nameOfOrder(world, orderReference),
    url,
    status,
    due: nextTryAt,
    tried,
    tries: tries.map(tryView),
  });

export const callbacksView = (world: World, callbacks: readonly SentCallback[]): Listed<CallbackView> =>
  newest(
    callbacks.filter(({ orderReference }) => world.orders.get(orderReference) !== undefined),
    view(world),
  );
