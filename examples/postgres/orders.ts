/** What the shop does with an order. */
import type { Transaction } from "kysely";
import { fromKysely } from "pg-boss";
import type { IdentifiedOrderInput } from "pod-partner";
import { boss, type Database, db } from "./database.ts";

const enqueue = (transaction: Transaction<Database>, id: string) =>
  boss.send("place", { id }, { db: fromKysely(transaction) });

/** Accepts a paid order, with its job, in your transaction: after a commit it will be placed, after a rollback there is neither. */
export async function accept(transaction: Transaction<Database>, order: IdentifiedOrderInput): Promise<void> {
  const id = order.customIdentifier;
  const { numInsertedOrUpdatedRows: inserted } = await transaction
    .insertInto("orders")
    .values({ id, content: JSON.stringify(order) })
    .onConflict((conflict) => conflict.doNothing()) // a webhook that comes twice
    .executeTakeFirstOrThrow();
  if (inserted === 1n) await enqueue(transaction, id);
}

/** Runs an order again that was refused, after you have corrected what `hint` names, or that waits without a job. */
export const runAgain = (id: string): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    await transaction
      .updateTable("orders")
      .set({ state: "waiting", error: null })
      .where("id", "=", id)
      .where("state", "!=", "placed")
      .returning("id")
      .executeTakeFirstOrThrow(() => new Error(`${id} is placed, or unknown`));
    await enqueue(transaction, id);
  });
