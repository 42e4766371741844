import { check } from "../../schemas/check.ts";
import { type CreatedRender, type RenderInput, renderInput } from "./renders.schema.ts";

/** Maximum number of remembered pairs of composition and image. A batch may be endless. */
const most = 2_000;

/** Creates the render of each pair of composition and image once while it remembers the pair, because each creation deducts tokens. */
export class SharedRenders {
  readonly #renders = new Map<string, Promise<CreatedRender>>();

  /** Returns the render of the pair. Calls during the creation share its result. After a failure, the next call creates again. */
  create(input: RenderInput, create: () => Promise<CreatedRender>): Promise<CreatedRender> {
    // An invalid input is not shared: the request reports its faults.
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
