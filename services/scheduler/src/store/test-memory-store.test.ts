import { testScheduleStore } from "./conformance.ts";
import { createTestMemoryStore } from "./test-memory-store.ts";

testScheduleStore("the store in memory", async (clock) => createTestMemoryStore(clock));
