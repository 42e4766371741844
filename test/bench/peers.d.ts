/** What the benchmarks use of the other SDKs, so that type checking does not need them. */
declare module "openai" {
  export default class OpenAI {
    constructor(options: { apiKey: string; baseURL: string });
    readonly models: { retrieve(id: string): Promise<unknown> };
    readonly files: { list(): AsyncIterable<unknown> };
  }
}

declare module "openapi-fetch" {
  type Send = (path: string, init: object) => Promise<{ readonly data?: unknown; readonly error?: unknown }>;
  export default function createClient(options: { baseUrl: string; headers: object }): { readonly POST: Send };
}

declare module "stripe" {
  export default class Stripe {
    constructor(key: string, options: { host: string; port: string; protocol: "http" });
    readonly customers: { retrieve(id: string): Promise<unknown> };
    readonly products: { list(): AsyncIterable<unknown> };
  }
}

declare module "@notionhq/client" {
  type List = (args: object) => Promise<unknown>;
  export class Client {
    constructor(options: { auth: string; baseUrl: string });
    readonly users: { retrieve(args: { user_id: string }): Promise<unknown>; readonly list: List };
  }
  export const iteratePaginatedAPI: (list: List, args: object) => AsyncIterable<unknown>;
}

declare module "undici" {
  export class Pool {
    constructor(origin: string);
    request(options: { path: string; method: "GET" }): Promise<{ readonly body: { json(): Promise<unknown> } }>;
  }
}

declare module "@octokit/core" {
  interface Client {
    request(route: string): Promise<unknown>;
  }
  export const Octokit: { plugin(...plugins: readonly object[]): new (options: object) => Client };
}

declare module "@octokit/plugin-throttling" {
  export const throttling: object;
}

declare module "@octokit/plugin-retry" {
  export const retry: object;
}
