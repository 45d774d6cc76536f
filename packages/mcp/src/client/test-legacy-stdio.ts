import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { legacyServer } from "./test-legacy-server.ts";

// The older server as a program.
await legacyServer().connect(new StdioServerTransport());
