import { type Download, memoryStorage, NotFoundError, type OrderInput, PodPartner } from "pod-partner";
import { createOrderUpdatedReceiver } from "pod-partner/callbacks";
import type { Transport } from "pod-partner/node";

/** What the emulator of a run gives the program. JSON. */
export interface Day {
  readonly baseUrl: string;
  readonly secretKey: string;
  readonly order: OrderInput;
  readonly composition: Parameters<PodPartner["compositions"]["lookup"]>[0];
  /** A PNG in base64. */
  readonly design: string;
  /** An existing folder to write into. */
  readonly folder: string;
}

const token = "0d5b3c9a7e1f4826";

/** Saves a file and uploads it from its path. */
async function byPath(partner: PodPartner, mockup: Download, path: string): Promise<string> {
  try {
    await mockup.saveTo(path);
    return (await partner.images.upload(path)).reference;
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}

async function nameOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "no error";
  } catch (error) {
    return NotFoundError.isInstance(error) ? `${error.name} ${error.status}` : String(error);
  }
}

/** A partner's day: what it returns is the same everywhere, but for `file`. */
export async function day(input: Day, transport?: Transport) {
  const { baseUrl, secretKey, folder } = input;
  const partner = new PodPartner({ baseUrl, secretKey, storage: memoryStorage(), ...(transport && { transport }) });
  const design = Uint8Array.from(atob(input.design), (character) => character.charCodeAt(0));

  const { reference, recovered } = await partner.orders.create(input.order);
  const listed: string[] = [];
  for await (const summary of partner.orders.list()) listed.push(summary.reference);

  const image = await partner.images.upload(design);
  const uploads = [
    image.reference,
    (await partner.images.upload(new Blob([design]).stream())).reference,
    (await partner.images.uploadOnce(new Blob([design]))).reference,
    (await partner.images.uploadOnce(design)).reference,
  ];
  const composition = await partner.compositions.lookup(input.composition);
  const created = await partner.renders.create({
    compositionReference: composition.reference,
    imageReference: image.reference,
  });
  const render = await partner.renders.wait(created.reference, { interval: 20 });
  const mockup = await partner.renders.media(render.reference, { wait: true });
  const bytes = await mockup.bytes();
  const file = await byPath(partner, await partner.renders.media(render.reference), `${folder}/mockup.png`);

  const updated: string[] = [];
  const receiver = createOrderUpdatedReceiver({
    partner,
    token,
    onOrderUpdated: ({ order }) => void updated.push(order.reference),
  });
  const query = new URLSearchParams({ token, environment: "test", order_reference_v2: reference, store_code: "shop" });
  const callback = await receiver.fetch(new Request(`https://shop.example/callbacks?${query}`));
  await receiver.close();

  return {
    found: listed.includes(reference) && updated[0] === reference && !recovered,
    listed: listed.length,
    uploads: uploads.filter((upload) => upload.startsWith("Image_")).length,
    uploadedOnce: uploads[2] === uploads[3],
    render: render.status,
    complete: bytes.length === mockup.size,
    file: file.startsWith("Image_") ? "saved and uploaded" : file,
    callback: callback.status,
    error: await nameOf(partner.orders.get("Order_00000000000000000000000000")),
  };
}
