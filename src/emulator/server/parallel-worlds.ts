import { ControlError } from "../base/control-error.ts";
import { requestAt } from "../base/messages.ts";
import { prefersHtml, unknownWorldPage } from "../page/page.ts";
import type { EmulatorOptions } from "../settings/options.ts";
import type { Emulator } from "./emulator.ts";

/** The options of an isolated world. */
export interface ParallelWorldOptions extends Omit<EmulatorOptions, "baseUrl"> {
  /** The part of the base URL: letters, digits, `-` and `_`. Default: a number. */
  readonly name?: string;
}

/** An emulator with a state of its own on the port of another one. `using` removes it. */
export interface ParallelWorld extends Emulator, Disposable {
  readonly name: string;
  /** Removes the world. Requests under its base URL get a 404. */
  remove(): void;
}

/** Isolated worlds on one port, for tests that run at the same time. */
export interface ParallelWorlds {
  /** The names of the worlds. */
  readonly names: readonly string[];
  /**
   * Makes a world with its own base URL. Its controls are under `/worlds/<name>/_emulator`. Default options: those of the server.
   *
   * @throws {@link ControlError} for a name that is taken or invalid, and when there are 256 worlds.
   *
   * @example
   * using world = emulator.worlds.create();
   * const partner = new PodPartner(world.clientOptions); // http://127.0.0.1:4010/worlds/1/v2
   */
  create(options?: ParallelWorldOptions): ParallelWorld;
  /** Removes a world. Throws a {@link ControlError} for an unknown name. */
  remove(name: string): void;
}

/** The part of a running emulator that a world consists of. */
interface MadeWorld {
  readonly emulator: Emulator;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly close: () => void;
}

/** The most worlds of one server: each has a catalog and a log. */
const maxWorlds = 256;

const validName = /^[\w-]{1,100}$/;
const worldPath = /^\/worlds\/([^/]+)(\/.*)$/;

/** Refuses a name that cannot be given to another world. */
function checkName(name: string, worlds: ReadonlyMap<string, MadeWorld>): void {
  if (!validName.test(name)) throw new ControlError("A name has 1 to 100 letters, digits, - and _");
  if (worlds.has(name)) throw new ControlError(`There is a world ${name} already`);
  if (worlds.size >= maxWorlds) throw new ControlError(`There are ${maxWorlds} worlds: remove one first`);
}

/** Makes a function that returns the next number that is not the name of a world. */
function countFree(worlds: ReadonlyMap<string, MadeWorld>): () => string {
  let latest = 0;
  return () => {
    do latest += 1;
    while (worlds.has(String(latest)));
    return String(latest);
  };
}

/** Makes a list of worlds. `make` makes an emulator under a path of the server. */
export function createParallelWorlds(make: (path: string, options: Omit<EmulatorOptions, "baseUrl">) => MadeWorld) {
  const worlds = new Map<string, MadeWorld>();
  const freeNumber = countFree(worlds);

  const remove = (name: string): void => {
    const world = worlds.get(name);
    if (world === undefined) throw new ControlError(`There is no world ${name}`);
    worlds.delete(name);
    world.close();
  };

  const create = ({ name, ...options }: ParallelWorldOptions = {}): ParallelWorld => {
    const chosen = name ?? freeNumber();
    checkName(chosen, worlds);
    const made = make(`/worlds/${chosen}`, options);
    worlds.set(chosen, made);
    const removeThis = () => {
      if (worlds.get(chosen) === made) remove(chosen);
    };
    return Object.assign(made.emulator, { name: chosen, remove: removeThis, [Symbol.dispose]: removeThis });
  };

  const controls: ParallelWorlds = {
    get names() {
      return [...worlds.keys()];
    },
    create,
    remove,
  };
  return {
    controls,
    close: () => {
      for (const world of worlds.values()) world.close();
    },
    /** Responds to a request under `/worlds/`. Returns undefined for another path. */
    respond: async (request: Request): Promise<Response | undefined> => {
      const url = new URL(request.url);
      const [, name = "", path = "/"] = worldPath.exec(url.pathname) ?? [];
      if (name === "") return undefined;
      const world = worlds.get(name);
      if (world === undefined) {
        if (prefersHtml(request)) return unknownWorldPage([...worlds.keys()]);
        return Response.json({ code: "not_found", message: `There is no world ${name}` }, { status: 404 });
      }
      if (path.startsWith("/v2/")) return await world.emulator.fetch(request);
      return await world.fetch(requestAt(url.origin + path + url.search, request));
    },
  };
}
