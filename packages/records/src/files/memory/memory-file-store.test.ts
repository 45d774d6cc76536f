import { testFileStore } from "../conformance.ts";
import { createMemoryFileStore } from "../create-memory-file-store.ts";

testFileStore("files in memory", async (limits) => createMemoryFileStore(limits));
