import { RequestValidationError, ResponseValidationError } from "../errors/validation.ts";
import { optionFaults } from "../http/endpoint/check-options.ts";
import { nameOf } from "../http/endpoint/endpoint.ts";
import { hasErrorObject } from "../http/retry/retry.ts";
import { Paginator } from "../pagination/paginator.ts";
import { referenceFault } from "../references/references.ts";
import { eitherSignal } from "../util/abort-signals.ts";
import { JointTimeline } from "../waiting/joint-timeline.ts";

/**
 * The code that `find-changes.ts` gets from the rest of the package. The files that load with it import only types: a bundler would move
 * imported code to a file of its own, and the entry point would compress 3 kB worse.
 */
export const shared = {
  eitherSignal,
  hasErrorObject,
  JointTimeline,
  nameOf,
  optionFaults,
  Paginator,
  referenceFault,
  RequestValidationError,
  ResponseValidationError,
};

export type Shared = typeof shared;
