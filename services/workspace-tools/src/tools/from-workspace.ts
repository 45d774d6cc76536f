import { type ContentTrust, saidBy } from "@rockbot/contracts";

/** What stands in files may come from anybody. */
export const fromWorkspace = (path: string): ContentTrust => saidBy(`workspace:${path}`);
