const length = 8;

async function checksum(key: string, value: Uint8Array): Promise<Uint8Array> {
  const name = new TextEncoder().encode(`${key}\n`);
  const content = new Uint8Array(name.byteLength + value.byteLength);
  content.set(name);
  content.set(value, name.byteLength);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", content), 0, length);
}

/** Puts a checksum of the key and the value before the value. */
export async function seal(key: string, value: Uint8Array): Promise<Uint8Array> {
  const sealed = new Uint8Array(length + value.byteLength);
  sealed.set(await checksum(key, value));
  sealed.set(value, length);
  return sealed;
}

/** Returns the value without its checksum; undefined if the value is damaged or belongs to another key. */
export async function unseal(key: string, sealed: Uint8Array): Promise<Uint8Array | undefined> {
  const value = sealed.subarray(length);
  const expected = await checksum(key, value);
  return expected.every((byte, index) => byte === sealed[index]) ? value : undefined;
}
