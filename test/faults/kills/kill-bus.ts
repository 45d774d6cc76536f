import type { Bus } from "@rockbot/bus";
import { messages } from "@rockbot/contracts";
import type { KillSwitch } from "./kill-point.ts";

export interface KillBusOptions {
  readonly service: string;
  readonly killSwitch: KillSwitch;
  /** Called with the call's id once the bus has confirmed its answer. */
  readonly onAnswered: (toolCallId: string) => void;
}

/**
 * A service's bus with the kill points that lie outside its tools: when a request comes, when its result is noted and
 * about to be published, and when that is confirmed and the request is about to be acknowledged.
 */
export function killBus(bus: Bus, { service, killSwitch, onAnswered }: KillBusOptions): Bus {
  return {
    get traits() {
      return bus.traits;
    },
    get isReady() {
      return bus.isReady;
    },
    get isBlocked() {
      return bus.isBlocked;
    },
    inspect: (name, part) => bus.inspect(name, part),
    visitParked: (name, visit, limit) => bus.visitParked(name, visit, limit),
    subscribe(options, handler) {
      if (options.name !== service) return bus.subscribe(options, handler);
      return bus.subscribe(options, async (message, delivery) => {
        await killSwitch.reach("before claim");
        await handler(message, delivery);
      });
    },
    async publish(message, options) {
      const isAnswer = message.type === messages.ToolInvokeResponse.type || message.type === messages.ToolError.type;
      if (isAnswer) await killSwitch.reach("after store");
      await bus.publish(message, options);
      if (!isAnswer) return;
      onAnswered(message.correlationId ?? "");
      await killSwitch.reach("after publish");
    },
    [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose](),
  };
}
