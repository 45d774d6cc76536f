import { randomBytes } from "node:crypto";
import { sharedRedisUrl } from "@rockbot/testing";
import { testTurnStore } from "../conformance.ts";
import { connectRedisTurnStore } from "./redis-turn-store.ts";

const url = await sharedRedisUrl();

testTurnStore("RedisTurnStore", async (options) => {
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  const store = await connectRedisTurnStore(url, { prefix, ...options });
  const other = await connectRedisTurnStore(url, { prefix, ...options });
  return {
    store,
    other,
    async [Symbol.asyncDispose]() {
      await Promise.all([store[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
    },
  };
});
