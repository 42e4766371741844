// Runs until a signal ends it, slowly.
import { stopSignal } from "../../src/cli/emulator.ts";

setInterval(() => undefined, 1_000);
const stopped = stopSignal();
console.log("ready");
await stopped;
console.log("stopping");
