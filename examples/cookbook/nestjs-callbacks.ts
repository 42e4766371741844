/** The part of examples/cookbook/nestjs.ts that hears of changes. In `main.ts`, call `app.enableShutdownHooks()`. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Controller, Get, Inject, type OnApplicationShutdown, Req, Res } from "@nestjs/common";
import type { PodPartner } from "pod-partner";
import * as callbacks from "pod-partner/callbacks";
import { sqliteStorage } from "pod-partner/sqlite";

/** What all processes share: which orders were sent, and what was handed over. On many machines: `postgresStorage` or `redisStorage`. */
export const storage = sqliteStorage("partner.db");
export const FOLLOWER = Symbol("the follower of orders");

/** Your own code. The same change may come twice: key each effect on the order and the total. */
async function save({ order, changes }: callbacks.OrderChanged): Promise<void> {
  console.log(order.reference, changes.map(({ kind }) => kind).join(" "));
}

export function createFollower(partner: PodPartner): callbacks.OrderFollower {
  return callbacks.createOrderFollower({ partner, storage, interval: 3_600_000, onChange: save });
}

/** The callback URL in the dashboard is https://your.host/callbacks/orders?token=… with the same token: letters and digits. */
@Controller("callbacks")
export class CallbacksController implements OnApplicationShutdown {
  private readonly receiver: callbacks.OrderUpdatedReceiver;

  constructor(@Inject(FOLLOWER) private readonly follower: callbacks.OrderFollower) {
    const { CALLBACK_TOKEN: token } = process.env;
    if (!token) throw new Error("CALLBACK_TOKEN is not set");
    this.receiver = callbacks.createOrderUpdatedReceiver({ follower, token });
  }

  @Get("orders")
  receive(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    return this.receiver.node(request, response);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.receiver.close();
    await this.follower.close();
  }
}
