import { fileNotes, readKeptFile } from "@rockbot/memory";
import type { FileStore } from "@rockbot/records/files";
import type { AgentPlugin } from "./agent-plugin.ts";

/** Shows the model the files of the session's caller: those in results, and parts of them. */
export const keptFiles = (files: FileStore): AgentPlugin => ({
  name: "kept files",
  async start() {
    return {
      isOfSession: true,
      tools: ({ caller, model }) => [
        readKeptFile(files, { owner: caller, pageChars: model.behavior.chunkingThreshold }),
      ],
      fit: ({ caller }) => fileNotes(files, caller),
    };
  },
});
