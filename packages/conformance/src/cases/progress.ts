import { decodeMessage } from "@rockbot/contracts";
import { must, NotTried } from "../breach.ts";
import type { Case } from "../case.ts";
import { mustBeResult } from "../examiner.ts";

export const progressCases: readonly Case[] = [
  {
    name: "progress comes in order, and its number with the answer",
    clause: "progress-form",
    async run(examiner) {
      const call = await examiner.send({ call: examiner.slow, asksForProgress: true });
      const reply = await call.reply(examiner.patienceMs);
      mustBeResult(reply, call.what);
      const said = Number(reply.message.properties.headers?.["rb-rb-progress"] ?? 0);
      await call.until(() => call.progress.length >= said, 1_000);
      if (call.progress.length === 0 && said === 0) throw new NotTried(`"${call.toolName}" tells no progress`);
      must(
        call.progress.length <= said,
        `${call.progress.length} updates came, and the answer's header rb-rb-progress says ${said}`,
      );
      let last = -1;
      for (const { body, properties } of call.progress) {
        const update = decodeMessage("ToolProgress", body);
        must(update.ok, `progress that cannot be read: ${update.ok ? "" : update.fault.message}`);
        const { sequence, toolCallId } = update.value;
        must(
          toolCallId === call.toolCallId && properties["correlationId"] === toolCallId,
          "progress names another call in toolCallId or correlation-id",
        );
        must(sequence > last, `progress with the sequence ${sequence} came after ${last}`);
        last = sequence;
      }
    },
  },
];
