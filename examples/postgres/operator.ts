/** Shows the orders that are not placed: `node operator.ts`. Runs one again: `node operator.ts shop-17`. */
import { boss, pool } from "./database.ts";
import { runAgain } from "./orders.ts";

for (const id of process.argv.slice(2)) await runAgain(id);
const stuck =
  "SELECT id, state, tries, error, code, hint, message, changed FROM order_states WHERE state <> 'placed' ORDER BY changed";
for (const row of (await pool.query(stuck)).rows) console.log(JSON.stringify(row));
await boss.stop();
await pool.end();
