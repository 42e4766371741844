import type { TokenSource } from "./bucket/token-source.ts";
import type { Ceiling } from "./ceiling.ts";
import type { GatewayLimit } from "./gateway-limit.ts";
import type { WaitQueues } from "./queue/wait-queue.ts";
import type { Routes } from "./routes.ts";

/** What limits the rate of a client's requests. */
export interface Limits {
  readonly tokens: TokenSource;
  readonly queues: WaitQueues;
  readonly routes: Routes;
  readonly gatewayLimit: GatewayLimit;
  readonly ceiling: Ceiling | undefined;
}
