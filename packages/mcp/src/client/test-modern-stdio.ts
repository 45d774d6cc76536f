import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { modernServer } from "./test-modern-server.ts";

// The newer server as a program.
serveStdio(() => modernServer());
