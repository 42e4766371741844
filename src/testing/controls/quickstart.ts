import { validAddress } from "../builders/orders.ts";
import type { Emulation } from "../emulation.ts";
import { allControls } from "./table.ts";

const describeKeys = ({ worlds }: Emulation): readonly string[] =>
  worlds.flatMap((world) =>
    Array.from(world.keys.values(), ({ secretKey, permissions, revoked }) => {
      const limits = [
        permissions === null ? [] : [`only ${permissions.join(", ")}`],
        revoked ? ["revoked"] : [],
      ].flat();
      return `  ${secretKey}  (${[world.organization.name, ...limits].join("; ")})`;
    }),
  );

/** A request of curl with the key. */
const curl = (secretKey: string, url: string, body?: unknown): string => {
  const sent = body === undefined ? "" : ` \\\n    -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  return `  curl -H 'X-Service-Secret-Key: ${secretKey}' ${url}${sent}`;
};

/** How to use the controls, and the list of them. */
function describeControls({ settings: { baseUrl }, worlds: [{ demo }] }: Emulation): readonly string[] {
  const root = baseUrl.replace(/v2$/, "_emulator");
  const control = (name: string, input: unknown) =>
    `  curl -H 'Content-Type: application/json' -d '${JSON.stringify(input)}' ${root}/${name}`;
  const controls = Array.from(
    allControls,
    ([name, { about, required }]) => `  ${name} { ${required.join(", ")} }: ${about}`,
  );
  return [
    `Controls (what the operator does): POST ${root}/<name> with a JSON object, for example`,
    control("clock.advance", { span: { days: 3 } }),
    "A fault: the service makes the next order, and its response is lost. docs/testing.md of the package lists the kinds and their fields.",
    control("faults.add", { fault: { on: "POST /orders", nth: 1, fault: "drop" } }),
    "The callback of a shipped order goes to the URL of its store:",
    control("setCallbackUrl", { store: demo.stores.api, url: "http://127.0.0.1:3000/callback" }),
    `The response of the control world is {"result": <world>}; the control load takes {"world": <world>}.`,
    `What was sent: GET ${root}/requests lists the requests, newest first; GET ${root}/requests/<id> has headers and bodies.`,
    `Required fields in braces; GET ${root} has the schema of each.`,
    `GET ${root}/coverage says what is modelled of each endpoint, and which options and controls change it.`,
    ...controls,
  ];
}

/** How to begin, as plain text for people and assistants: base URL, keys, the first order with curl and with the SDK, and the controls. */
export function quickstart(emulation: Emulation): string {
  const { baseUrl } = emulation.settings;
  const [{ demo, keys }] = emulation.worlds;
  const [{ secretKey } = { secretKey: "none" }] = keys.values();
  const order = {
    storeReference: demo.stores.api,
    shippingKind: "dropship",
    customIdentifier: "first-order",
    dropshipAddress: validAddress(),
    orderlines: [{ productReference: demo.products.screenProtector, quantity: 1 }],
  };
  const lines = [
    "An emulator of the Print-on-Demand Partner API v2. Nothing is produced or invoiced.",
    "",
    `Base URL: ${baseUrl}`,
    "Keys, for the header X-Service-Secret-Key:",
    ...describeKeys(emulation),
    "",
    "Place an order and read the list:",
    curl(secretKey, `${baseUrl}/orders`, { order }),
    curl(secretKey, `${baseUrl}/orders`),
    "",
    "The same with the SDK (npm install pod-partner):",
    '  import { PodPartner } from "pod-partner";',
    `  const partner = new PodPartner({ baseUrl: "${baseUrl}", secretKey: "${secretKey}" });`,
    `  await partner.orders.create(${JSON.stringify(order)});`,
    "",
    `Print images: POST ${baseUrl}/images with the bytes of a PNG or JPEG and Content-Type: application/octet-stream.`,
    `Products: GET ${baseUrl}/products. Stores: GET ${baseUrl}/stores.`,
    "",
    ...describeControls(emulation),
  ];
  return `${lines.join("\n")}\n`;
}
