import { run as batch } from "./batch/batch.ts";
import { run as coldStart } from "./cold-start/cold-start.ts";
import { run as emulator } from "./emulator/emulator.ts";
import { run as emulatorStart } from "./emulator-start/emulator-start.ts";
import { run as ensure } from "./ensure/ensure.ts";
import { run as exactlyOnce } from "./exactly-once/exactly-once.ts";
import { run as iterate } from "./iterate/iterate.ts";
import { run as memory } from "./memory/memory.ts";
import { run as observed } from "./observed/observed.ts";
import { run as pacing } from "./pacing/pacing.ts";
import { run as percall } from "./percall/percall.ts";
import { run as queue } from "./queue/queue.ts";
import { run as report } from "./report/report.ts";
import { run as stores } from "./storage/storage.ts";
import { run as weight } from "./weight/weight.ts";

/** `npm run bench -- percall` runs one benchmark; without a name it lists them. */
const benches: Readonly<Record<string, () => Promise<void>>> = {
  batch,
  "cold-start": coldStart,
  emulator,
  "emulator-start": emulatorStart,
  ensure,
  "exactly-once": exactlyOnce,
  iterate,
  memory,
  observed,
  pacing,
  percall,
  queue,
  report,
  stores,
  weight,
};

const bench = benches[process.argv[2] ?? ""];
if (bench === undefined) {
  console.error(`Name a benchmark: npm run bench -- ${Object.keys(benches).join(" | ")}`);
  process.exitCode = 1;
} else {
  await bench();
}
