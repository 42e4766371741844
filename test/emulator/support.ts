import { createEmulator, createManualClock, type EmulatorOptions, sampleImage } from "pod-partner/testing";

/** The parts of a response that these tests read. */
export interface EmulatorResponse {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are compared with shapes written by hand from the specification
  readonly body: any;
}

/** An emulator on a clock that does not move by itself, and raw requests to it without the SDK's client. */
export function setUp(options: EmulatorOptions = {}) {
  const clock = createManualClock();
  const emulator = createEmulator({ clock, ...options });

  const send = async (method: string, path: string, init: RequestInit = {}): Promise<EmulatorResponse> => {
    const headers = { "X-Service-Secret-Key": emulator.secretKey, ...(init.headers as Record<string, string>) };
    const response = await emulator.fetch(emulator.baseUrl + path, { ...init, method, headers });
    const text = await response.clone().text();
    const isJson = response.headers.get("Content-Type") === "application/json";
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : new Uint8Array(await response.arrayBuffer()),
    };
  };
  const withJson = (method: string) => (path: string, body: unknown) =>
    send(method, path, { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const upload = (path: "/images" | "/evidence", bytes: Uint8Array<ArrayBuffer> = sampleImage()) =>
    send("POST", path, { headers: { "Content-Type": "application/octet-stream" }, body: bytes });

  return {
    clock,
    emulator,
    demo: emulator.demo,
    send,
    get: (path: string, headers: Record<string, string> = {}) => send("GET", path, { headers }),
    post: withJson("POST"),
    put: withJson("PUT"),
    upload,
    image: async () => (await upload("/images")).body.image.reference as `Image_${string}`,
    evidence: async () => (await upload("/evidence")).body.evidence.reference as `Evidence_${string}`,
  };
}

export type Bench = ReturnType<typeof setUp>;

export const address = {
  company: "",
  firstname: "Ada",
  lastname: "Lovelace",
  streetname: "Damrak",
  housenumber: "1",
  housenumberAddition: "",
  additionalInfo: "",
  state: "",
  zipcode: "1012LG",
  city: "Amsterdam",
  countryCode: "NL",
  phonenumber: "",
  email: "ada@shop.example",
};

/** A valid dropship order of two lines: three printed cases, and one screen protector. */
export async function dropship({ demo, image }: Bench, over: Record<string, unknown> = {}) {
  return {
    order: {
      storeReference: demo.stores.api,
      shippingKind: "dropship",
      dropshipAddress: address,
      orderlines: [
        { productReference: demo.products.slimCase, imageReference: await image(), quantity: 3 },
        { productReference: demo.products.screenProtector, quantity: 1, annotations: [{ key: "a", value: "1" }] },
      ],
      ...over,
    },
  };
}

/** Places a valid order, and returns its reference. */
export async function placeOrder(bench: Bench, over: Record<string, unknown> = {}): Promise<`Order_${string}`> {
  const { body } = await bench.post("/orders", await dropship(bench, over));
  return body.order.reference;
}

/** A valid reference of a record that does not exist. */
export const unknownReference = (kind: string): string => `${kind}_${"0".repeat(26)}`;

export const referenceOf = (kind: string): RegExp => new RegExp(`^${kind}_[0123456789abcdefghjkmnpqrstvwxyz]{26}$`);

/** The error object of a response. */
export const problem = ({ status, body }: EmulatorResponse) => ({ status, code: body.code });
