import { createMemoryTrustStore } from "./memory-trust-store.ts";
import { testTrustStore } from "./test-trust-store.ts";

testTrustStore("MemoryTrustStore", async () => createMemoryTrustStore());
