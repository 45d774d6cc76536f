// Tools of one process, as an MCP server.

export { type McpHttpServer, type ServeMcpHttpOptions, serveMcpHttp } from "./serve-mcp-http.ts";
export { type McpStdioServer, type ServeMcpStdioOptions, serveMcpStdio } from "./serve-mcp-stdio.ts";
export type { ServedTool, ServedTools } from "./served-tool.ts";

// Texts of strangers, as far as a model may read them.

export { cleanText } from "../../text/clean-text.ts";
