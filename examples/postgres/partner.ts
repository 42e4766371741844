/** The client with a storage in the shop's database, and the follower that writes back what the service makes of each order. */
import { isOpen, PodPartner } from "pod-partner";
import { createOrderFollower, type OrderChanged } from "pod-partner/callbacks";
import { postgresStorage } from "pod-partner/postgres";
import { db, pool } from "./database.ts";

const storage = postgresStorage(pool);
export const partner = new PodPartner({ storage }); // reads POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY

/** The row has the latest totals, so a change that comes twice does no harm. It can come before the order is noted as placed. */
async function writeBack({ order }: OrderChanged): Promise<void> {
  const { reference, status, onHold, orderlines } = order;
  const shipped = orderlines.reduce((sum, { shippedQuantity }) => sum + shippedQuantity, 0);
  const row = { status: status.code ?? null, on_hold: onHold?.reason ?? null, shipped, is_open: isOpen(order) };
  await db
    .insertInto("progress")
    .values({ reference, ...row })
    .onConflict((conflict) => conflict.column("reference").doUpdateSet(row))
    .execute();
}

/** Callbacks come late or never: once an hour it looks at all open orders. Processes share this work. */
export const follower = createOrderFollower({ partner, storage, interval: 3_600_000, onChange: writeBack });
