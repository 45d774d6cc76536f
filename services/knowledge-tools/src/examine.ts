import type { Finding } from "@rockbot/process";
import type { KnowledgeToolsConfig } from "./generated/config.ts";
import { openStore } from "./knowledge-tools.ts";
import type { ConnectStore } from "./store/knowledge-store.ts";

/** For `rockbot doctor`: where knowledge is kept, and whether that can be opened. */
export async function examine(
  config: Readonly<KnowledgeToolsConfig>,
  connect: ConnectStore,
): Promise<readonly Finding[]> {
  const what = "knowledge";
  try {
    await using store = await openStore(config, connect);
    return [{ what, state: "ok", message: `kept in ${store.where}` }];
  } catch (error) {
    return [{ what, state: "broken", message: error instanceof Error ? error.message : String(error) }];
  }
}
