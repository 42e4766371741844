import { type PodPartner, RequestValidationError } from "pod-partner";
import { expect, it } from "vitest";
import { rejection } from "./exchange.ts";
import { useService } from "./partner.ts";

type Call = (partner: PodPartner) => PromiseLike<unknown>;
type Path = readonly (string | number)[];

/** The fault, the call, and exactly the paths that the error must have. */
export type Refusal = readonly [what: string, call: Call, paths: readonly Path[]];

const sorted = (paths: readonly Path[]) => paths.map((path) => JSON.stringify(path)).sort();

/** The tools for tests of checks before a request is sent. */
export function useRefusals() {
  const context = useService();

  /** Registers a test for each call that must be refused without a request. */
  function refuses(rows: readonly Refusal[]): void {
    for (const [what, call, paths] of rows) {
      it(`refuses ${what}, and sends nothing`, async () => {
        const error = await rejection(call(context.partner));
        if (!RequestValidationError.isInstance(error)) throw error;
        expect(sorted(error.issues.map(({ path }) => path))).toStrictEqual(sorted(paths));
        for (const { message } of error.issues) expect(message).not.toBe("");
        expect(context.service.requests).toHaveLength(0);
      });
    }
  }

  /** Registers a test for each call that must be sent, whatever the response is. */
  function accepts(rows: readonly (readonly [what: string, call: Call])[]): void {
    for (const [what, call] of rows) {
      it(`accepts ${what}`, async () => {
        context.service.respondAlways({ status: 410, body: { code: "sent", message: "It was sent." } });
        await expect(rejection(call(context.partner))).resolves.toMatchObject({ status: 410, code: "sent" });
        expect(context.service.requests).toHaveLength(1);
      });
    }
  }

  return { context, refuses, accepts };
}
