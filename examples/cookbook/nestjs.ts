/** A NestJS module: one client for the application, a service that places orders, and the route for callbacks. */
import { Global, Inject, Injectable, Module } from "@nestjs/common";
import { type IdentifiedOrderInput, type PlacedOrder, PodPartner } from "pod-partner";
import type { OrderFollower } from "pod-partner/callbacks";
import { CallbacksController, createFollower, FOLLOWER, storage } from "./nestjs-callbacks";

@Injectable()
export class OrdersService {
  constructor(
    private readonly partner: PodPartner,
    @Inject(FOLLOWER) private readonly follower: OrderFollower,
  ) {}

  /** Places an order once, also when it is called again after an error or a kill, and follows it. */
  async place(order: IdentifiedOrderInput): Promise<PlacedOrder> {
    const placed = await this.partner.orders.ensure(order);
    await this.follower.follow(placed.reference);
    return placed;
  }
}

@Global()
@Module({
  providers: [
    { provide: PodPartner, useFactory: () => new PodPartner({ storage }) }, // reads POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY
    { provide: FOLLOWER, useFactory: createFollower, inject: [PodPartner] },
    OrdersService,
  ],
  controllers: [CallbacksController],
  exports: [PodPartner, OrdersService], // to test your own services: `overrideProvider(PodPartner)` with a client of an emulator
})
export class PodPartnerModule {}
