import { type ImageReference, PodPartner } from "pod-partner";
import { createOrderUpdatedReceiver } from "pod-partner/callbacks";

const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey: "a-secret-key" });

export async function upload(file: File, bytes: Uint8Array, answer: Response): Promise<ImageReference[]> {
  const uploads = [partner.images.upload(file), partner.images.upload(bytes), partner.images.upload("design.png")];
  if (answer.body !== null) uploads.push(partner.images.upload(answer.body));
  // @ts-expect-error a number is not an image.
  uploads.push(partner.images.upload(123));
  uploads.push(partner.images.upload(answer));
  return (await Promise.all(uploads)).map(({ reference }) => reference);
}

const receiver = createOrderUpdatedReceiver({ partner, token: false, onOrderUpdated: ({ order }) => order.reference });

/** As Workers, Bun and Deno call it. */
export default { fetch: (request: Request): Promise<Response> => receiver.fetch(request) };
