/** Writes dist/openapi.json: the document that the emulator serves. */
import { writeFileSync } from "node:fs";
import { startEmulator } from "pod-partner/testing";

const emulator = await startEmulator({ port: 0 });
try {
  const response = await fetch(new URL("/_emulator/openapi.json", emulator.baseUrl));
  const document = (await response.json()) as { readonly servers: [{ url: string }] };
  document.servers[0].url = "http://127.0.0.1:4010/v2";
  writeFileSync(new URL("../dist/openapi.json", import.meta.url), `${JSON.stringify(document)}\n`);
} finally {
  await emulator.close();
}
