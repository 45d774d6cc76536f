import { randomBytes } from "node:crypto";
import { sharedRedisUrl } from "@rockbot/testing";
import { testRunStore } from "../test-run-store.ts";
import { connectRedisRunStore } from "./redis-run-store.ts";

const url = await sharedRedisUrl();

testRunStore("RedisRunStore", () => connectRedisRunStore(url, { prefix: `test-${randomBytes(6).toString("hex")}` }));
