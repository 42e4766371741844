import { Injectable } from "@nestjs/common";
import { NotFoundError, PodPartner } from "pod-partner";

@Injectable()
export class OrdersService {
  constructor(private readonly partner: PodPartner) {}

  async has(customIdentifier: string): Promise<boolean> {
    try {
      await this.partner.orders.lookup({ customIdentifier });
      return true;
    } catch (error) {
      if (error instanceof NotFoundError) return false;
      throw error;
    }
  }
}
