/** The shop's database, for all programs in this folder: its tables with Kysely, and the queue of pg-boss. */
import { type ColumnType, type Generated, type JSONColumnType, Kysely, PostgresDialect } from "kysely";
import { Pool } from "pg";
import { PgBoss } from "pg-boss";
import type { IdentifiedOrderInput, OrderReference } from "pod-partner";

interface OrderRow {
  id: string; // also the customIdentifier
  content: JSONColumnType<IdentifiedOrderInput>;
  state: Generated<"waiting" | "placing" | "placed" | "refused">;
  tries: Generated<number>;
  reference: OrderReference | null;
  error: ColumnType<object | null, string | null | undefined, string | null>; // of the latest try
  changed: Generated<Date>;
}

/** What the service makes of an order. */
interface ProgressRow {
  reference: OrderReference;
  status: string | null;
  on_hold: string | null;
  shipped: number;
  is_open: boolean;
}

export interface Database {
  orders: OrderRow;
  progress: ProgressRow;
}

const { DATABASE_URL: connectionString } = process.env;
if (!connectionString) throw new Error("DATABASE_URL is not set");

export const pool = new Pool({ connectionString });
export const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });

/** It has connections of its own. A job of a killed worker comes back as soon as its heartbeat is missed: after 10 to 15 seconds. */
export const boss = new PgBoss({
  connectionString,
  schedule: false,
  superviseIntervalSeconds: 5,
  monitorIntervalSeconds: 5,
  queueCacheIntervalSeconds: 5,
});

/** When Postgres restarts, connections break and are replaced. Without a listener on each, the process would end. */
const report = ({ message }: Error) => console.error(message);
pool.on("connect", (client) => client.on("error", report));
pool.on("error", report);
boss.on("error", report);
await boss.start();
