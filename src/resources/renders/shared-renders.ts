import { check } from "../../schemas/check.ts";
import { type CreatedRender, type RenderInput, renderInput } from "./renders.schema.ts";

/** So many pairs of composition and image are remembered, the latest: a batch may be endless. */
const most = 2_000;

/** Creates the render of a composition and an image once, as long as the pair is remembered: each creation deducts tokens. */
export class SharedRenders {
  readonly #renders = new Map<string, Promise<CreatedRender>>();

  /** Gives the render of the pair. Those who ask while it is being created share how that ends; a failure is forgotten then. */
  create(input: RenderInput, create: () => Promise<CreatedRender>): Promise<CreatedRender> {
    // An invalid input shares nothing: the request reports its faults.
    if (!check(renderInput, input, []).ok) return create();
    const pair = `${input.compositionReference} ${input.imageReference}`;
    const render = this.#renders.get(pair) ?? this.#remembered(pair, create());
    // The latest is last, the oldest first.
    this.#renders.delete(pair);
    this.#renders.set(pair, render);
    const [oldest] = this.#renders.keys();
    if (this.#renders.size > most && oldest !== undefined) this.#renders.delete(oldest);
    return render;
  }

  #remembered(pair: string, render: Promise<CreatedRender>): Promise<CreatedRender> {
    render.catch(() => {
      if (this.#renders.get(pair) === render) this.#renders.delete(pair);
    });
    return render;
  }
}
