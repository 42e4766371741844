/** Writes dist/postgres.sql: what creates the table of `postgresStorage`, for those who run their migrations from files. */
import { writeFileSync } from "node:fs";
import { migration } from "../src/postgres/table.ts";

writeFileSync(new URL("../dist/postgres.sql", import.meta.url), migration());
