export type { FollowedLine, FollowedOrder, LookResult, OrderChange, OrderChanged, OrderGone } from "./changes.ts";
export {
  CallbackValidationError,
  DeadlockError,
  OrderFollowerError,
  type OrderFollowerFault,
  type Reconciled,
  ReconcileError,
  type ReconcileFailure,
} from "./errors.ts";
export { createOrderFollower, type OrderFollower } from "./follower.ts";
export type { OrderFollowerOptions, ReconcileOptions } from "./follower-options.ts";
export { type CallbackEnvironment, type OrderUpdatedParameters, parseOrderUpdated } from "./parameters.ts";
export type { FollowedOrderReader, FollowerReadOptions } from "./reader.ts";
export {
  createOrderUpdatedReceiver,
  type NodeRequest,
  type NodeResponse,
  type OrderUpdatedReceiver,
} from "./receiver.ts";
export type {
  FollowerReceiverOptions,
  OrderReader,
  OrderUpdated,
  OrderUpdatedFailure,
  OrderUpdatedReceiverOptions,
} from "./receiver-options.ts";
