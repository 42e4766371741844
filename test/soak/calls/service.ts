/**
 * A lean service in a process of its own. It creates what requests ask for, loses or breaks some of its responses, and counts. It
 * contains nothing of the SDK.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { combinedOrder } from "../../support/orders.ts";
import { png } from "../../support/pictures.ts";
import { createRandom } from "../random.ts";
import type { Tally } from "./messages.ts";

const random = createRandom(20_261_122);
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const orders = new Map<string, { reference: string; times: number }>();
const claims = new Map<string, { reference: string; times: number; claim: Claim; created: string }>();
/** The latest claims, which the list contains. */
const listed: string[] = [];
const counts = { requests: 0, made: 0 };

/** More than a client reads at once. */
const picture = Buffer.concat([png, Buffer.alloc(100_000, 1)]);

interface Claim {
  readonly shipmentReference: string;
  readonly orderReference: string;
  readonly claimlines: readonly { orderlineIndex: number; quantity: number; claimcategoryReference: string }[];
}

interface Reply {
  readonly status: number;
  readonly body: string | Uint8Array;
  readonly type: string;
}

function makeReference(kind: string): string {
  counts.made += 1;
  let text = "";
  for (let rest = counts.made; rest > 0; rest = Math.floor(rest / 32)) text = alphabet[rest % 32] + text;
  return `${kind}_${text.padStart(26, "0")}`;
}

const json = (value: unknown, status = 200): Reply => ({
  status,
  body: JSON.stringify(value),
  type: "application/json",
});
const nothing: Reply = { status: 204, body: "", type: "text/plain" };
const zeros = "0".repeat(25);

function createOrder(identifier: string): Reply {
  const known = orders.get(identifier);
  const reference = makeReference("Order");
  orders.set(identifier, { reference: known?.reference ?? reference, times: (known?.times ?? 0) + 1 });
  return json({ order: { reference } });
}

function createClaim(claim: Claim): Reply {
  const known = claims.get(claim.orderReference);
  const reference = makeReference("Claim");
  const created = new Date().toISOString();
  claims.set(claim.orderReference, { reference, claim, created, times: (known?.times ?? 0) + 1 });
  listed.unshift(claim.orderReference);
  listed.length = Math.min(listed.length, 500);
  return json({ claim: { reference } });
}

const category = { reference: `Claimcategory_${zeros}1`, name: "Damaged in transit" };
const open = { status: "pending", retracted: null };

function listClaims(): Reply {
  const page = listed.flatMap((orderReference) => {
    const made = claims.get(orderReference);
    if (made === undefined) return [];
    const { reference, created } = made;
    return { reference, orderReference, ...open, claimcategories: [category], created, decided: null };
  });
  return json({ claims: page, nextCursor: null });
}

function readClaim(id: string): Reply {
  const made = [...listed].map((key) => claims.get(key)).find((claim) => claim?.reference === id);
  const { shipmentReference, orderReference, claimlines } = made?.claim ?? { claimlines: [] };
  const lines = claimlines.map(({ orderlineIndex, quantity, claimcategoryReference }) => ({
    orderlineIndex,
    quantity,
    productReference: `Product_${zeros}1`,
    claimcategory: { ...category, reference: claimcategoryReference },
    decision: null,
    evidenceUrls: [],
  }));
  if (made === undefined) return json({ code: "not_found", message: "This record does not exist." }, 404);
  const { created, reference } = made;
  const detail = { shipmentReference, orderReference, created, reference, decision: null, evidenceUrls: [] };
  return json({ claim: { ...detail, ...open, claimlines: lines } });
}

function listOrders(cursor: string | null): Reply {
  const page = Number(cursor ?? 0);
  const list = Array.from({ length: 5 }, (_, index) => ({ reference: `Order_${zeros.slice(1)}${page}${index}` }));
  return json({ orders: list, nextCursor: page < 2 ? String(page + 1) : null });
}

const orderline = {
  ...combinedOrder.orderlines[0],
  index: 1,
  canceledQuantity: 0,
  shippedQuantity: 0,
  annotations: [],
};
const order = { status: { code: "received" }, orderlines: [orderline], onHold: null, legacyOrderCode: "SOAK-1" };

/** Carries a request out. */
function serve(method: string, url: URL, body: string): Reply {
  const [, , resource, id = "", action] = url.pathname.split("/");
  switch (`${method} ${resource}`) {
    case "POST orders":
      return action === "cancel" ? nothing : createOrder(JSON.parse(body).order.customIdentifier);
    case "GET orders":
      return id === "" ? listOrders(url.searchParams.get("cursor")) : json({ order: { ...order, reference: id } });
    case "GET utilities": {
      const found = orders.get(url.searchParams.get("customIdentifier") ?? "");
      return found ? json({ orderReference: found.reference }) : json({ code: "not_found", message: "None." }, 404);
    }
    case "POST claim-item-issues":
      return createClaim(JSON.parse(body).claim);
    case "GET claims":
      return id === "" ? listClaims() : readClaim(id);
    case "GET renders":
      return { status: 200, body: picture, type: "image/png" };
    case "POST images":
      return json({ image: { reference: `Image_${zeros}1` } });
    case "POST quote":
      return json({ shippingOptions: [{ level: "basic", price: 325 }] });
    default:
      return json({ stores: [] });
  }
}

const policies = ["default", "uploads", "downloads"];
const limits = {
  "x-ratelimit-policy": policies.map((name) => `"${name}";q=1000000;w=1`).join(", "),
  "x-ratelimit": policies.map((name) => `"${name}";r=999999;t=0`).join(", "),
};

/** Breaks some responses to requests that were carried out. Returns whether it broke this one. */
function breakAfter(roll: number, response: ServerResponse, { status, body, type }: Reply): boolean {
  const head = { ...limits, "content-type": type };
  if (roll < 0.02) response.destroy();
  else if (roll < 0.03) response.writeHead(500, head).end('{"code":"internal","message":"It broke."}');
  else if (roll < 0.035) response.writeHead(200, { ...limits, "content-type": "text/html" }).end("<html>hello</html>");
  else if (roll < 0.04) {
    response.writeHead(status, { ...head, "content-length": body.length + 10 }).write(body || "x");
    setImmediate(() => response.destroy());
  } else if (roll < 0.043) response.writeHead(200, { ...head, "content-length": body.length + 10 }).write(body || "x");
  else if (roll >= 0.045) return false;
  // The rest gets no response: the client stops waiting.
  return true;
}

const creates = (method: string, { pathname }: URL) =>
  method === "POST" && /\/(orders|claim-item-issues)$/.test(pathname);

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  counts.requests += 1;
  const { method = "", url = "" } = request;
  const target = new URL(url, "http://127.0.0.1");
  let body = "";
  for await (const chunk of request.setEncoding("latin1")) body += chunk;
  // The client looks up a creation for seconds when it was not carried out: these faults are rarer.
  const before = random() * (creates(method, target) ? 10 : 1);
  if (before < 0.02) return void response.destroy();
  if (before < 0.03) return void response.writeHead(503, { "content-type": "text/html" }).end("<h1>503</h1>");
  if (before < 0.0305) {
    response.writeHead(429, { ...limits, "retry-after": "0", "content-type": "application/json" });
    return void response.end('{"code":"rate_limited","message":"Later."}');
  }
  const reply = serve(method, target, body);
  if (breakAfter(random(), response, reply)) return;
  response.writeHead(reply.status, { ...limits, "content-type": reply.type }).end(reply.body || undefined);
}

const server = createServer((request, response) => {
  respond(request, response).catch(() => response.destroy());
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.send?.(`http://127.0.0.1:${port}/v2`);
});
process.on("message", () => {
  const twice = [...orders.values(), ...claims.values()].filter(({ times }) => times > 1).length;
  const tally: Tally = { requests: counts.requests, orders: orders.size, claims: claims.size, twice };
  process.send?.(tally);
});
process.once("disconnect", () => process.exit());
