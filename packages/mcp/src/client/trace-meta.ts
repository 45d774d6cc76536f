import { context, propagation, trace } from "@opentelemetry/api";

/** The trace context of now, as `_meta` of a request carries it; empty without a trace. */
export function traceMeta(): Record<string, string> {
  const meta: Record<string, string> = {};
  propagation.inject(context.active(), meta);
  return meta;
}

/**
 * Adds to the span of a tool's call that it is a call of an MCP server, as the conventions ask for where a tool's span
 * is there already.
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/
 */
export function markMcpCall(transport: string, protocolVersion: string | undefined): void {
  trace.getActiveSpan()?.setAttributes({
    "mcp.method.name": "tools/call",
    ...(protocolVersion === undefined ? {} : { "mcp.protocol.version": protocolVersion }),
    "network.transport": transport === "stdio" ? "pipe" : "tcp",
  });
}
