/**
 * Receives the callbacks of the service, and follows orders.
 *
 * @module pod-partner/callbacks
 */

export {
  CallbackValidationError,
  OrderFollowerError,
  type OrderFollowerFault,
  type Reconciled,
  ReconcileError,
  type ReconcileFailure,
} from "./errors.ts";
export { createOrderFollower, type OrderFollower } from "./follower.ts";
export type {
  FollowedOrderReader,
  FollowerReadOptions,
  FollowerReceiverOptions,
  OrderFollowerOptions,
  OrderReader,
  OrderUpdated,
  OrderUpdatedFailure,
  OrderUpdatedReceiverOptions,
  ReconcileOptions,
  ReconcileProgress,
} from "./options.ts";
export type { FollowedLine, FollowedOrder, LookResult, OrderChange, OrderChanged, OrderGone } from "./order-state.ts";
export { type CallbackEnvironment, type OrderUpdatedParameters, parseOrderUpdated } from "./parameters.ts";
export {
  createOrderUpdatedReceiver,
  type NodeRequest,
  type NodeResponse,
  type OrderUpdatedReceiver,
} from "./receiver.ts";
