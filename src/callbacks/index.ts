/**
 * Receives the callbacks of the service, and follows orders.
 *
 * @module pod-partner/callbacks
 */

export {
  CallbackValidationError,
  DeadlockError,
  OrderFollowerError,
  type Reconciled,
  ReconcileError,
} from "./errors.ts";
export { createOrderFollower, type OrderFollower } from "./follower.ts";
export type {
  FollowerReceiverOptions,
  OrderFollowerOptions,
  OrderUpdated,
  OrderUpdatedReceiverOptions,
} from "./options.ts";
export type { OrderChanged, OrderGone } from "./order-state.ts";
export { type OrderUpdatedParameters, parseOrderUpdated } from "./parameters.ts";
export {
  createOrderUpdatedReceiver,
  type NodeRequest,
  type NodeResponse,
  type OrderUpdatedReceiver,
} from "./receiver.ts";
