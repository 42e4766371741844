/** What this benchmark uses of the other SDKs. */
declare module "openai" {
  export default interface OpenAI {
    readonly files: { list(): AsyncIterable<unknown> };
  }
}

declare module "stripe" {
  export default interface Stripe {
    readonly products: { list(): AsyncIterable<unknown> };
  }
}
