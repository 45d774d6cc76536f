import type { ContentTrust } from "@rockbot/contracts";

/** What stands in files may come from anybody. */
export const fromWorkspace = (path: string): ContentTrust => ({ level: "untrusted", origin: `workspace:${path}` });
