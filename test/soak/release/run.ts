import { once } from "node:events";
import { ask, start } from "../children.ts";
import { type TransportKind, transportKinds } from "../transport.ts";
import type { Census, Job } from "./messages.ts";

async function release(transport: TransportKind, each: number): Promise<Census> {
  const service = start(new URL("./service.ts", import.meta.url));
  const origin = await ask<string>(service);
  const worker = start(new URL("./worker.ts", import.meta.url));
  const exit = once(worker, "exit");
  const census = await ask<Census>(worker, { origin, transport, each } satisfies Job);
  // A process with an open socket or timer would not end.
  const [code] = await exit;
  service.disconnect();
  if (code !== 0) throw new Error(`The worker ended with code ${code}.`);
  return census;
}

/** Downloads and aborts over both transports, prints what stays open, and returns whether nothing does. */
export async function soakRelease(each: number): Promise<boolean> {
  const rows: (Census & { readonly transport: TransportKind })[] = [];
  for (const transport of transportKinds) rows.push({ transport, ...(await release(transport, each)) });
  console.table(rows);
  return rows.every(
    ({ downloads, aborted, others, listeners, timers, sockets }) =>
      downloads === each && aborted === each && others + listeners + timers + sockets === 0,
  );
}
