import { createEnvelope } from "@rockbot/contracts";
import { expect, test } from "vitest";
import type { Bus } from "./bus.ts";
import { createMemoryBus } from "./memory-bus.ts";
import { createRequester } from "./requester.ts";

test("a request that cannot be published fails, with the first and with later ones, and nothing is left of it", async () => {
  await using real = createMemoryBus();
  const throwing: Bus = new Proxy(real, {
    get(target, property) {
      const own: unknown = Reflect.get(target, property);
      if (property !== "publish") return typeof own === "function" ? own.bind(target) : own;
      return () => {
        throw new TypeError("no text");
      };
    },
  });
  await using requester = createRequester(throwing, {
    replyTo: "answers",
    subscription: { name: "answers", kind: "result" },
  });
  const request = (correlationId: string) =>
    requester.request(createEnvelope({ topic: "a", type: "t", source: "s", correlationId, body: Buffer.from("{}") }), {
      timeoutMs: 60_000,
    });
  for (const id of ["first", "second"]) await expect(request(id)).rejects.toThrow("no text");
  expect(requester.pending).toBe(0);
});
