import { createEmulator, type Emulator } from "pod-partner/testing";
import { expect, it } from "vitest";

const keys = ["emulator-secret-key", "second-key", "second-key-and-more", "key-of-other-prints"];

/** Everything that the log shows, in every form. */
const shown = ({ requests }: Emulator): string => JSON.stringify([requests, requests.toHar()]);

function create(): Emulator {
  return createEmulator({
    keys: [{ secretKey: "second-key" }, { secretKey: "second-key-and-more", revoked: true }],
    organizations: [{ name: "Other prints", keys: [{ secretKey: "key-of-other-prints" }] }],
  });
}

/** Sends a request of the demo organization that has a key in its query, a header and its body. */
async function send(emulator: Emulator, key: string): Promise<void> {
  const headers = {
    "X-Service-Secret-Key": emulator.secretKey,
    "Content-Type": "application/json",
    "X-Note": `with ${key}`,
  };
  const body = JSON.stringify({ order: { customIdentifier: `of ${key}` } });
  const query = `?note=${encodeURIComponent(key)}`;
  await emulator.fetch(`${emulator.baseUrl}/orders`, { method: "POST", headers, body });
  await emulator.fetch(`${emulator.baseUrl}/orders${query}`, { headers });
}

it.each(keys)("the key %s is redacted in requests that another key sends", async (key) => {
  const emulator = create();
  await send(emulator, key);
  expect(shown(emulator)).toContain("of [redacted]");
  expect(shown(emulator)).not.toMatch(/second-key|key-of-other-prints|emulator-secret-key|redacted\]-and-more/);
});

it("a key that a loaded world replaced is still redacted, and the new one is, too", async () => {
  const emulator = create();
  await send(emulator, "second-key");
  const other = createEmulator({ secretKey: "key-of-the-loaded-world" });
  emulator.load(other.world());
  await send(emulator, "second-key");
  await send(emulator, "key-of-the-loaded-world");
  expect(shown(emulator)).not.toMatch(/second-key|key-of-the-loaded-world/);
});
