import { createHash } from "node:crypto";
import { memoryStorage } from "pod-partner";
import { onTestFinished, vi } from "vitest";

/**
 * Makes `crypto.subtle.digest` immediate until the test has finished. The platform hashes on other threads, and a manual clock cannot wait
 * for them: its time would go on during a hash.
 */
export function useInstantDigest(): void {
  const digest = vi.spyOn(crypto.subtle, "digest").mockImplementation(async (_, data) => {
    const bytes = ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data);
    return new Uint8Array(createHash("sha256").update(bytes).digest()).buffer;
  });
  onTestFinished(() => digest.mockRestore());
}

// A storage loads its memory at the first use, which takes real time, too.
await memoryStorage().get("first use");
