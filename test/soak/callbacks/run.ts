import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmulator } from "../../../src/emulator/index.ts";
import { ask, start } from "../children.ts";
import { createRandom } from "../random.ts";
import type { ReceiverJob } from "./receiver.ts";

/** Callbacks that are sent again at the same time. */
const batch = 50;
/** The rounds of 6 minutes of the emulator's clock after which the soak gives up. */
const rounds = 40;

/** The values in another order. */
function shuffled<Value>(values: readonly Value[], random: () => number): Value[] {
  return values
    .map((value) => ({ value, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

/** Starts the partner's process, and can kill and restart it on the same port. */
async function startPartner(job: Omit<ReceiverJob, "port" | "seed">) {
  const spawn = async (port: number, seed: number) => {
    const child = start(new URL("./receiver.ts", import.meta.url));
    return { child, port: await ask<number>(child, { ...job, port, seed } satisfies ReceiverJob) };
  };
  let current = await spawn(0, 1);
  let kills = 0;
  return {
    port: current.port,
    kills: () => kills,
    stop: () => current.child.disconnect(),
    kill: async () => {
      kills += 1;
      const exit = once(current.child, "exit");
      current.child.kill("SIGKILL");
      await exit;
      return async () => {
        current = await spawn(current.port, kills + 1);
      };
    },
  };
}

/** The orders in the partner's file, each with the highest shipped quantity that it was handled with. */
async function handledOrders(file: string) {
  const lines = (await readFile(file, "utf8")).trim().split("\n");
  const handled = new Map<string, number>();
  for (const line of lines) {
    const [reference = "", shipped = "0"] = line.split(" ");
    handled.set(reference, Math.max(handled.get(reference) ?? 0, Number(shipped)));
  }
  return { handled, handlings: lines.length };
}

/**
 * Ships orders. Each callback is sent one to three times in random order, a tenth of the handlers fail, and the partner's process is
 * killed twice. Returns whether the handler has succeeded for each order at the end, with its whole quantity.
 */
export async function soakCallbacks(orders: number): Promise<boolean> {
  const random = createRandom(20_261_122);
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-"));
  const file = join(folder, "handled.txt");
  const token = "a long random text";
  await using emulator = await startEmulator({
    seed: { orders },
    limits: { default: { quota: 1_000_000, window: 60_000 } },
  });
  const { baseUrl, secretKey } = emulator;
  const partner = await startPartner({ baseUrl, secretKey, token, file, failing: 0.1 });
  emulator.setCallbackUrl(
    emulator.demo.stores.api,
    `http://127.0.0.1:${partner.port}/callback?token=${encodeURIComponent(token)}`,
  );

  const stored = emulator.world().organizations[0]?.orders ?? [];
  const quantities = new Map(
    stored.map(({ reference, lines }) => [reference as string, lines.reduce((sum, { quantity }) => sum + quantity, 0)]),
  );
  for (const { reference } of shuffled(stored, random)) emulator.ship(reference);

  const again = emulator.callbacks.list().flatMap(({ id }) => Array<number>(Math.floor(random() * 3)).fill(id));
  const batches = Math.ceil(again.length / batch);
  const queue = shuffled(again, random);
  for (let number = 0; number < batches; number += 1) {
    const kill = number === Math.floor(batches / 3) || number === Math.floor((2 * batches) / 3);
    const restart = kill ? await partner.kill() : undefined;
    for (const id of new Set(queue.slice(number * batch, (number + 1) * batch))) {
      if (emulator.callbacks.list().find((callback) => callback.id === id)?.status === "delivered")
        emulator.callbacks.resend(id);
    }
    await emulator.callbacks.idle();
    await restart?.();
  }
  const waiting = () => emulator.callbacks.list().filter(({ status }) => status === "waiting").length;
  let round = 0;
  for (; waiting() > 0 && round < rounds; round += 1) await emulator.clock.advance({ minutes: 6 });

  const { handled, handlings } = await handledOrders(file);
  const tries = emulator.callbacks.list().reduce((sum, { tried }) => sum + tried, 0);
  partner.stop();
  await rm(folder, { recursive: true });
  const complete = [...quantities].filter(([reference, quantity]) => handled.get(reference) === quantity).length;
  console.table([
    {
      orders,
      callbacks: quantities.size,
      tries,
      handlings,
      kills: partner.kills(),
      "rounds of 6 minutes": round,
      waiting: waiting(),
      complete,
    },
  ]);
  return complete === orders && waiting() === 0;
}
