/** Places the orders and receives the callbacks of the service. Start as many workers as you like. */
import { createServer } from "node:http";
import { sql, type Updateable } from "kysely";
import type { Job } from "pg-boss";
import { PodPartnerError } from "pod-partner";
import { createOrderUpdatedReceiver } from "pod-partner/callbacks";
import { boss, type Database, db, pool } from "./database.ts";
import { follower, partner } from "./partner.ts";

const change = (id: string, values: Updateable<Database["orders"]>) =>
  db
    .updateTable("orders")
    .set({ ...values, changed: sql<Date>`now()` })
    .where("id", "=", id)
    .where("state", "!=", "placed")
    .returning("content")
    .executeTakeFirst();

/** Whether each repeat would fail in the same way. A wrong key or option is not the order's fault: it waits until you correct that. */
const isFinal = (error: unknown) =>
  PodPartnerError.isInstance(error) &&
  !error.isRetryable &&
  !["AuthenticationError", "PermissionDeniedError", "ConfigurationError"].includes(error.name);

async function place({ data: { id }, retryCount, signal }: Job<{ id: string }>): Promise<void> {
  const row = await change(id, { state: "placing", tries: retryCount + 1 });
  if (row === undefined) return; // it is placed: the job came twice
  try {
    const { reference } = await partner.orders.ensure(row.content, { signal });
    await follower.follow(reference);
    await change(id, { state: "placed", reference, error: null });
    console.log(id, "placed", reference);
  } catch (error) {
    const { name, code, hint, message } = error as PodPartnerError;
    const state = isFinal(error) ? "refused" : "waiting";
    await change(id, { state, error: JSON.stringify({ name, code, hint, message }) });
    console.error(id, state, name, message);
    if (state === "waiting") throw error; // pg-boss repeats the job
  }
}

const { CALLBACK_TOKEN: token = "", PORT: port = "3001" } = process.env;
const receiver = createOrderUpdatedReceiver({ follower, token });
const server = createServer(receiver.node).listen(Number(port), () => {
  console.log("port", Object(server.address()).port);
});
// Eight orders at a time. While there are more, the next one follows without a pause.
const settings = { localConcurrency: 8, pollingIntervalSeconds: 1, burstWhenReadyExceeds: 1 };
await boss.work<{ id: string }>("place", settings, async ([job]) => job && place(job));

process.once("SIGTERM", async () => {
  await receiver.close();
  server.close();
  await boss.stop({ timeout: 20_000 }); // orders in work have this time; others take over what is left
  await follower.close();
  await pool.end();
});
