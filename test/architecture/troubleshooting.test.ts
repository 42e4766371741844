import { join } from "node:path";
import { PodPartner, type PodPartnerOptions } from "pod-partner";
import { createOrderUpdatedReceiver } from "pod-partner/callbacks";
import { createEmulator, createManualClock, sampleImage, validOrder } from "pod-partner/testing";
import { expect, it } from "vitest";
import { root } from "../examples/process.ts";

/** The same references and the same day each time. */
const fixed = () => ({ seed: { number: 1, orders: 1 }, clock: createManualClock("2026-11-24T09:00:00Z") });
const emulator = createEmulator({ seed: { number: 1, orders: 1 } });
const partner = new PodPartner(emulator.clientOptions);
const once = { retry: { retries: 0 } };

/** A client of the emulator with other options. */
const clientWith = (options: Partial<PodPartnerOptions>) =>
  new PodPartner({ ...emulator.clientOptions, ...once, ...options });

/** What a platform's `fetch` rejects with when the connection fails. */
const broken = (code: string, message: string) => () =>
  Promise.reject(new TypeError("fetch failed", { cause: Object.assign(new Error(message), { code }) }));

const validate = (fetch: NonNullable<PodPartnerOptions["fetch"]>) => () => clientWith({ fetch }).auth.validate();

/** A `fetch` that does not respond before it is ended. */
const silent: NonNullable<PodPartnerOptions["fetch"]> = (_request, init) =>
  new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));

/** An emulator with one fault, and a client without retries. */
function withFault(fault: Parameters<typeof emulator.faults.add>[0]) {
  const other = createEmulator({ seed: { number: 1 } });
  other.faults.add(fault);
  return { other, client: new PodPartner({ ...other.clientOptions, ...once }) };
}

interface Trouble {
  readonly what: string;
  readonly provoke: () => unknown;
  /** What the message does not say itself. */
  readonly why: string;
}

const order = { customIdentifier: "shop-1001" };
const read = () => partner.orders.list().toArray();

const parts: Readonly<Record<string, readonly Trouble[]>> = {
  "It does not start": [
    {
      what: "The base URL or the key is missing",
      provoke: () => new PodPartner({}),
      why: "The process does not have the two variables: a `.env` file is read only by `node --env-file=.env`, or by your framework.",
    },
    {
      what: "The base URL is not that of version 2",
      provoke: () => clientWith({ baseUrl: "https://partner.example/api" }),
      why: "Copy the URL from the dashboard. It is different for test and production.",
    },
    {
      what: "An option has a wrong name",
      provoke: () => clientWith({ timeOut: 3000 } as object),
      why: "Unknown options are refused, so that a wrong name does not leave the default in place.",
    },
    {
      what: "The receiver of callbacks is refused",
      provoke: () => createOrderUpdatedReceiver({ partner, onOrderUpdated: () => {} } as never),
      why: "Anybody who knows the URL of a callback can call it: see [callbacks](callbacks.md).",
    },
  ],
  "Nothing gets through": [
    {
      what: "The key is refused",
      provoke: () => clientWith({ secretKey: "a-key-of-another-environment" }).auth.validate(),
      why: "`npx pod-partner doctor` checks the URL and the key.",
    },
    {
      what: "The key may not do that",
      provoke: () => {
        const other = createEmulator({ seed: { number: 1 } });
        other.updateKey(other.secretKey, { permissions: ["orders.get"] });
        return new PodPartner(other.clientOptions).organization.get();
      },
      why: "Give the key the permission in the dashboard, or make another key.",
    },
    {
      what: "The host is not found",
      provoke: validate(broken("ENOTFOUND", "getaddrinfo ENOTFOUND partner.example")),
      why: "In a container, check its DNS.",
    },
    {
      what: "The connection is refused",
      provoke: validate(broken("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:4010")),
      why: "With the emulator: it does not run, or on another port. In a container `127.0.0.1` is the container itself.",
    },
    {
      what: "The certificate is not trusted",
      provoke: validate(broken("SELF_SIGNED_CERT_IN_CHAIN", "self-signed certificate in certificate chain")),
      why: "A proxy of your company opens TLS. Its certificate belongs into `NODE_EXTRA_CA_CERTS`; see [transport](transport.md).",
    },
    {
      what: "A web page comes back",
      provoke: validate(async () => new Response("<h1>Sign in</h1>", { headers: { "Content-Type": "text/html" } })),
      why: "",
    },
    {
      what: "The service redirects",
      provoke: validate(
        async () => new Response(null, { status: 302, headers: { Location: "https://www.partner.example/v2" } }),
      ),
      why: `The key is never sent along a redirect. A 301, 302 or 303 can follow a change that was made: for an order, a claim or a retraction that no look-up finds, it is
the \`cause\` of an \`OutcomeUnknownError\`.`,
    },
    {
      what: "It takes too long",
      provoke: () => clientWith({ fetch: silent, timeout: 20 }).auth.validate(),
      why: "One attempt did not end. The option `timeout` is 30,000 ms; uploads of large files may need more.",
    },
    {
      what: "The deadline is over",
      provoke: () => clientWith({ fetch: silent }).auth.validate({ deadline: 20 }),
      why: "The whole call did not end. `error.timeline` says where the time went: in the queue, in waits, or in the service.",
    },
    {
      what: "The service is down",
      provoke: async () => {
        const { client } = withFault({ on: "auth.validate", fault: "status", status: 503, when: "before" });
        await client.auth.validate();
      },
      why: "The SDK has tried it as often as `retry` says. When some requests succeed and many are refused with 503, a proxy may limit\nthe rate: [behind a gateway](rate-limits.md#behind-a-gateway-with-its-own-limit).",
    },
  ],
  "An order or a call is refused": [
    {
      what: "The input is wrong",
      provoke: () => partner.orders.create({ ...validOrder(emulator), orderlines: [] }),
      why: "`error.issues` has each fault with its path. Nothing was sent.",
    },
    {
      what: "A reference is of the wrong kind",
      provoke: () => partner.orders.get(emulator.demo.products.slimCase as never),
      why: "For texts of a database use [`parseReference`](typescript.md#references-from-a-database).",
    },
    {
      what: "The service refuses the order",
      provoke: () => {
        const line = { productReference: emulator.demo.products.slimCase, quantity: 1 };
        return partner.orders.create(validOrder(emulator, { ...order, orderlines: [line] }));
      },
      why: "Decide by `error.code`: [codes](errors.md#codes).",
    },
    {
      what: "It does not exist",
      provoke: () => partner.orders.get("Order_00000000000000000000000000"),
      why: "References of the test environment do not exist in production, nor the other way round.",
    },
    {
      what: "The order can no longer be canceled",
      provoke: async () => {
        const [summary] = await read();
        if (summary === undefined) return;
        emulator.startProduction(summary.reference);
        await partner.orders.cancel(summary.reference, [{ index: 1, canceledQuantity: 1 }]);
      },
      why: "",
    },
    {
      what: "The identifier is taken by another order",
      provoke: async () => {
        await partner.orders.ensure(validOrder(emulator, order));
        const line = { productReference: emulator.demo.products.screenProtector, quantity: 3 };
        await partner.orders.ensure(validOrder(emulator, { ...order, orderlines: [line] }));
      },
      why: "Your program changed the order after it was placed, or used the identifier twice.",
    },
    {
      what: "The file is no picture",
      provoke: () => partner.images.upload(new TextEncoder().encode("This was meant to be a PNG.")),
      why: "",
    },
  ],
  "It is not clear what happened": [
    {
      what: "The response to an order was lost",
      provoke: async () => {
        const { other, client } = withFault({ on: "orders.create", fault: "drop", when: "before" });
        other.faults.add({ on: "orders.lookup", fault: "drop" });
        await client.orders.create(validOrder(other, order));
      },
      why: "The look-ups were lost, too. Put it back into your queue: `ensure` finds out. See [exactly once](orders.md#use-ensure-with-your-own-identifier).",
    },
    {
      what: "The response to an upload was lost",
      provoke: async () => {
        const { client } = withFault({ on: "images.upload", fault: "drop" });
        await client.images.upload(sampleImage());
      },
      why: "Repeat it: an image that is stored twice costs nothing.",
    },
  ],
  "It waits, or is limited": [
    {
      what: "A limit is reached for long",
      provoke: async () => {
        const fault = {
          fault: "status",
          status: 429,
          code: "rate_limited",
          retryAfter: 600_000,
          when: "before",
        } as const;
        const { client } = withFault({ on: "auth.validate", ...fault });
        await client.auth.validate();
      },
      why: "Many processes without a common limit: see [fleets](fleets.md). `partner.rateLimits` and the hook `onPause` say what a call waits for.",
    },
    {
      what: "The rendertokens of the week are spent",
      provoke: async () => {
        const other = createEmulator({ ...fixed(), rendertokenLimit: 0 });
        const client = new PodPartner(other.clientOptions);
        const { reference: imageReference } = await client.images.upload(sampleImage());
        const { studio: compositionReference } = other.demo.compositions;
        await client.renders.create({ compositionReference, imageReference });
      },
      why: "It is never waited for. `renders.batch` stops in time: see [rendertokens](renders.md#rendertokens).",
    },
  ],
  "A response surprises": [
    {
      what: "A response has another form",
      provoke: () => {
        const fetch = async () => Response.json({ order: { reference: 7 } });
        return clientWith({ fetch }).orders.get("Order_00000000000000000000000000");
      },
      why: "The specification promises these fields. Report it to the service.",
    },
    {
      what: "A download is read twice",
      provoke: async () => {
        const download = await partner.catalog.products.media(emulator.demo.products.slimCase, "example.png");
        await download.bytes();
        await download.bytes();
      },
      why: "",
    },
  ],
};

/** The error that a mistake leads to. */
async function errorOf(provoke: Trouble["provoke"]): Promise<Error> {
  try {
    await provoke();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("There was no error");
}

it("troubleshooting.md has the messages as they are", async () => {
  const sections: string[] = [];
  for (const [title, troubles] of Object.entries(parts)) {
    const texts: string[] = [];
    for (const { what, provoke, why } of troubles) {
      const { name, message } = await errorOf(provoke);
      texts.push(`### ${what}\n\n\`\`\`text\n${name}: ${message}\n\`\`\`\n${why === "" ? "" : `\n${why}\n`}`);
    }
    sections.push(`## ${title}\n\n${texts.join("\n")}`);
  }
  const head = `# Troubleshooting

*What does this message mean?*

Search this page for the message. Each error says what to do; below it is what the message cannot know. For orders that are missing or late see
[reconciliation](reconciliation.md), for slow calls [where the time goes](rate-limits.md#where-the-time-of-a-slow-call-goes).
A repeated \`ensure\` or \`create\` that takes 10, 30 or 34 seconds waits for what an earlier call has left in doubt: [share a storage](orders.md#share-a-storage).
`;
  await expect(`${head}\n${sections.join("\n")}`).toMatchFileSnapshot(join(root, "docs/troubleshooting.md"));
});
