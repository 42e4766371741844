const order = `Order_${"0".repeat(26)}` as const;
const key = "sk_bench_of_clients";

/** One call of a client with default options. */
export type Call = () => Promise<unknown>;

/** Each imports only its own client, so that the other clients do not affect the process. */
export const clients = {
  fetch: (origin) => async () => (await fetch(`${origin}/v2/orders/${order}`)).json(),

  "node:http": async (origin) => {
    const { Agent, get } = await import("node:http");
    const agent = new Agent({ keepAlive: true });
    const url = `${origin}/v2/orders/${order}`;
    return () =>
      new Promise((resolve, reject) => {
        get(url, { agent }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
        }).on("error", reject);
      });
  },

  ky: async (origin) => {
    const { default: ky } = await import("ky");
    return () => ky.get(`${origin}/v2/orders/${order}`).json();
  },

  "pod-partner": async (origin) => {
    const built: string = new URL("../../../dist/index.js", import.meta.url).href;
    const { PodPartner } = (await import(built)) as typeof import("pod-partner");
    const partner = new PodPartner({ baseUrl: `${origin}/v2`, secretKey: key });
    return () => partner.orders.get(order);
  },

  "pod-partner on node:http": async (origin) => {
    const built = (name: string): string => new URL(`../../../dist/${name}.js`, import.meta.url).href;
    const { PodPartner } = (await import(built("index"))) as typeof import("pod-partner");
    const { nodeTransport } = (await import(built("node"))) as typeof import("pod-partner/node");
    const partner = new PodPartner({ baseUrl: `${origin}/v2`, secretKey: key, transport: nodeTransport() });
    return () => partner.orders.get(order);
  },

  openai: async (origin) => {
    const { default: OpenAI } = await import("openai");
    const client = new OpenAI({ apiKey: key, baseURL: `${origin}/v1` });
    return () => client.models.retrieve(order);
  },

  stripe: async (origin) => {
    const { default: Stripe } = await import("stripe");
    const { hostname, port } = new URL(origin);
    const client = new Stripe(key, { host: hostname, port, protocol: "http" });
    return () => client.customers.retrieve(order);
  },
} satisfies Readonly<Record<string, (origin: string) => Call | Promise<Call>>>;

export type ClientName = keyof typeof clients;
