import { testReplayStore } from "../conformance.ts";
import { createMemoryReplayStore } from "./memory-replay-store.ts";

testReplayStore("MemoryReplayStore", async (limits) => createMemoryReplayStore(limits));
