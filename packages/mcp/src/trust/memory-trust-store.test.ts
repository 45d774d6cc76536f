import { testTrustStore } from "./conformance.ts";
import { createMemoryTrustStore } from "./memory-trust-store.ts";

testTrustStore("MemoryTrustStore", async () => createMemoryTrustStore());
