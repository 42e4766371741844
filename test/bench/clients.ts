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

/** The folder of an older checkout with its build, `BASELINE=<folder>`: it is measured beside this one. */
export const baseline = process.env.BASELINE;

/** A file of a build. Default: of this one; `npm run` sets the current folder. */
export const built = (name: string, folder = "."): string =>
  new URL(`${folder}/dist/${name}.js`, `file://${process.cwd()}/`).href;

/** The built package. */
async function podPartner(origin: string, transport: "fetch" | "node", folder?: string): Promise<Client> {
  const { PodPartner } = (await import(built("index", folder))) as typeof import("pod-partner");
  const options = { baseUrl: `${origin}/v2`, secretKey: key };
  const node = (): Promise<typeof import("pod-partner/node")> => import(built("node", folder));
  const partner = new PodPartner(
    transport === "fetch" ? options : { ...options, transport: (await node()).nodeTransport() },
  );
  return {
    call: () => partner.orders.get(order),
    iterate: (each) => forEach(partner.orders.list(), each),
  };
}

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

  "pod-partner": (origin) => podPartner(origin, "fetch"),
  "pod-partner on node:http": (origin) => podPartner(origin, "node"),
  before: (origin) => podPartner(origin, "fetch", baseline),
  "before on node:http": (origin) => podPartner(origin, "node", baseline),

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
export const clientNames = (Object.keys(clients) as ClientName[]).filter(
  (name) => baseline !== undefined || !name.startsWith("before"),
);
