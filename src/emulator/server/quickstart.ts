import { allControls } from "../controls/table.ts";
import { validAddress } from "../settings/builders.ts";
import type { Emulation } from "../state/emulation.ts";

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

const rootOf = ({ settings: { baseUrl } }: Emulation): string => baseUrl.replace(/v2$/, "_emulator");

/** A request of curl to a control. */
const control = (emulation: Emulation, name: string, input: unknown): string =>
  `  curl -H 'Content-Type: application/json' -d '${JSON.stringify(input)}' ${rootOf(emulation)}/${name}`;

/** What follows on an order, with the references of earlier responses as placeholders. */
function describeSteps(emulation: Emulation, secretKey: string): readonly string[] {
  const { baseUrl } = emulation.settings;
  const [{ demo }] = emulation.worlds;
  const claim = {
    shipmentReference: "Shipment_…",
    orderReference: "Order_…",
    claimlines: [
      {
        orderlineIndex: 1,
        quantity: 1,
        claimcategoryReference: demo.claimcategories.wrongItem,
        evidenceReferences: [],
      },
    ],
  };
  return [
    "The next steps of an order. Put in the references of the responses; the result of ship is the shipment:",
    control(emulation, "ship", { orders: "Order_…" }),
    curl(secretKey, `${baseUrl}/claim-item-issues`, { claim }),
    control(emulation, "reviewClaim", { claim: "Claim_…", decision: "refund" }),
    curl(secretKey, `${baseUrl}/shipments/Shipment_…`),
    "When the response to an order is lost, look the order up by its customIdentifier before you send it again:",
    curl(secretKey, `${baseUrl}/utilities/lookup-order-reference-by-custom-identifier?customIdentifier=first-order`),
    "A callback is a GET with the parameters environment, order_reference_v2, order_reference, store_code and custom_reference. Read the order,",
    "then respond with a 2xx. After another response it is repeated 5 minutes of the emulator's clock later.",
    "",
  ];
}

/** How to use the controls, and the list of them. */
function describeControls(emulation: Emulation, secretKey: string): readonly string[] {
  const root = rootOf(emulation);
  const [{ demo }] = emulation.worlds;
  const controls = Array.from(
    allControls,
    ([name, { about, required }]) => `  ${name} { ${required.join(", ")} }: ${about}`,
  );
  return [
    `Controls (what the operator does): POST ${root}/<name> with a JSON object, for example`,
    control(emulation, "clock.advance", { span: { days: 3 } }),
    "A fault: the service makes the next order, and its response is lost. docs/testing.md of the package lists the kinds and their fields.",
    control(emulation, "faults.add", { fault: { on: "POST /orders", nth: 1, fault: "drop" } }),
    "The callback of a shipped order goes to the URL of its store:",
    control(emulation, "setCallbackUrl", { store: demo.stores.api, url: "http://127.0.0.1:3000/callback" }),
    "",
    ...describeSteps(emulation, secretKey),
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
    `  await partner.orders.ensure(${JSON.stringify(order)});`,
    "",
    `Print images: POST ${baseUrl}/images with the bytes of a PNG or JPEG and Content-Type: application/octet-stream.`,
    `Products: GET ${baseUrl}/products. Stores: GET ${baseUrl}/stores.`,
    "",
    ...describeControls(emulation, secretKey),
  ];
  return `${lines.join("\n")}\n`;
}
