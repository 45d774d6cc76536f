import { test } from "vitest";
import { expectOverGivesWay, testScheduleStore } from "../conformance.ts";
import { createTestMemoryStore } from "./test-memory-store.ts";

testScheduleStore("the store in memory", async (clock) => createTestMemoryStore(clock));

test("the oldest task that is over gives way in a full store", () => expectOverGivesWay(createTestMemoryStore()));
