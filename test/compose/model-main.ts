/** A model on port 8490 of its container: it calls a tool once, and then says what came of it. */
import { startModelServer } from "@rockbot/testing";
import { listenEverywhere } from "./listen-everywhere.ts";

const { url } = await startModelServer(
  ({ messages }) => {
    const results = messages.filter(({ role }) => role === "tool");
    return results.length > 0
      ? { text: `The tool has said ${results[0]?.text.length} characters.` }
      : { toolCalls: [{ name: "system-info__disk_info" }] };
  },
  { needsKey: false },
);
listenEverywhere(url);
