import { createMemoryRunStore } from "./memory-run-store.ts";
import { testRunStore } from "./test-run-store.ts";

testRunStore("MemoryRunStore", async () => createMemoryRunStore());
