/** The shop: accepts paid orders. It needs nothing of the service, so it works while the service does not. */
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { boss, db, pool } from "./database.ts";
import { accept } from "./orders.ts";

const app = new Hono();
app.get("/health", (context) => context.text("ok"));
app.post("/paid", async (context) => {
  const order = await context.req.json(); // check that the payment provider sent it
  await db.transaction().execute(async (transaction) => {
    await accept(transaction, order);
    // Your own rows, in the same transaction: the invoice, the stock, the points of the customer.
  });
  return context.body(null, 204);
});

const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, ({ port }) =>
  console.log("port", port),
);
process.once("SIGTERM", () => {
  server.close(async () => {
    await boss.stop();
    await pool.end();
  });
});
