import { type Each, forEach, type Get, sequential } from "./loops.ts";

const order = `Order_${"0".repeat(26)}` as const;
const key = "sk_bench_of_clients";

/** What the benchmarks do with a client, with default options. */
export interface Client {
  /** One call that returns the parsed body. */
  readonly call: () => Promise<unknown>;
  /** Iterates the whole list. */
  readonly iterate: (each: Each) => Promise<void>;
}

/** A client without a list: the caller writes the loop. */
const bare = (get: Get): Client => ({ call: () => get(`/v2/orders/${order}`), iterate: sequential(get) });

/** A file of the built package. `npm run` sets the current folder. */
const built = (name: string): string => new URL(`dist/${name}.js`, `file://${process.cwd()}/`).href;

/** Each imports only its own client, so that the other clients do not affect the process. */
export const clients = {
  fetch: (origin) => bare(async (path) => (await fetch(origin + path)).json()),

  "node:http": async (origin) => {
    const { Agent, get } = await import("node:http");
    const agent = new Agent({ keepAlive: true });
    const read: Get = (path) =>
      new Promise((resolve, reject) => {
        get(origin + path, { agent }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
        }).on("error", reject);
      });
    return bare(read);
  },

  undici: async (origin) => {
    const { Pool } = await import("undici");
    const pool = new Pool(origin);
    return bare(async (path) => (await pool.request({ path, method: "GET" })).body.json());
  },

  ky: async (origin) => {
    const { default: ky } = await import("ky");
    return bare((path) => ky.get(origin + path).json());
  },

  "pod-partner": async (origin) => {
    const { PodPartner } = (await import(built("index"))) as typeof import("pod-partner");
    const partner = new PodPartner({ baseUrl: `${origin}/v2`, secretKey: key });
    return {
      call: () => partner.orders.get(order),
      iterate: (each) => forEach(partner.orders.list(), each),
    };
  },

  "pod-partner on node:http": async (origin) => {
    const { PodPartner } = (await import(built("index"))) as typeof import("pod-partner");
    const { nodeTransport } = (await import(built("node"))) as typeof import("pod-partner/node");
    const partner = new PodPartner({ baseUrl: `${origin}/v2`, secretKey: key, transport: nodeTransport() });
    return {
      call: () => partner.orders.get(order),
      iterate: (each) => forEach(partner.orders.list(), each),
    };
  },

  stripe: async (origin) => {
    const { default: Stripe } = await import("stripe");
    const { hostname, port } = new URL(origin);
    const client = new Stripe(key, { host: hostname, port, protocol: "http" });
    return {
      call: () => client.customers.retrieve(order),
      iterate: (each) => forEach(client.products.list(), each),
    };
  },

  "@notionhq/client": async (origin) => {
    const { Client, iteratePaginatedAPI } = await import("@notionhq/client");
    const client = new Client({ auth: key, baseUrl: origin });
    return {
      call: () => client.users.retrieve({ user_id: order }),
      iterate: (each) => forEach(iteratePaginatedAPI(client.users.list, {}), each),
    };
  },

  openai: async (origin) => {
    const { default: OpenAI } = await import("openai");
    const client = new OpenAI({ apiKey: key, baseURL: `${origin}/v1` });
    return {
      call: () => client.models.retrieve(order),
      iterate: (each) => forEach(client.files.list(), each),
    };
  },
} satisfies Readonly<Record<string, (origin: string) => Client | Promise<Client>>>;

export type ClientName = keyof typeof clients;
export const clientNames = Object.keys(clients) as ClientName[];
