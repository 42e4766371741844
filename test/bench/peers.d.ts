/** What the benchmarks use of the SDKs beside ours, so that type checking needs none of them installed. */
declare module "openai" {
  export default class OpenAI {
    constructor(options: { apiKey: string; baseURL: string });
    readonly models: { retrieve(id: string): Promise<unknown> };
  }
}

declare module "stripe" {
  export default class Stripe {
    constructor(key: string, options: { host: string; port: string; protocol: "http" });
    readonly customers: { retrieve(id: string): Promise<unknown> };
  }
}
