import { once } from "node:events";
import { get } from "node:http";
import { pathToFileURL } from "node:url";
import type { startEmulator as start } from "../../../src/emulator/server/server.ts";

const { startEmulator } = (await import(pathToFileURL(process.argv[2] ?? "").href)) as {
  readonly startEmulator: typeof start;
};

/** Milliseconds from the start of an emulator to the end of its first response. */
async function startOnce(): Promise<number> {
  const begun = performance.now();
  await using emulator = await startEmulator();
  const headers = { "X-Service-Secret-Key": emulator.secretKey };
  const [response] = await once(get(`${emulator.baseUrl}/stores`, { headers, agent: false }), "response");
  response.resume();
  await once(response, "end");
  return performance.now() - begun;
}

const times: number[] = [];
for (let round = 0; round < 5; round += 1) times.push(await startOnce());
console.log(JSON.stringify({ first: times[0], fifth: times[4] }));
