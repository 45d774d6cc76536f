/** The file of MCP servers that a command means: its option, else MCP_CONFIG. */
export function chooseMcpConfig(
  option: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return option ?? (env["MCP_CONFIG"] || undefined);
}
