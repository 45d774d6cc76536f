import { createHash } from "node:crypto";
import { type KeptSkill, skillHash, tooLarge, withStore } from "@rockbot/agent";
import { ToolError, ToolErrorCode, type ToolSaveSkillInput, type ToolSaveSkillOutput, tools } from "@rockbot/contracts";
import { defineTool, type Tool, type ToolResult } from "@rockbot/tools";
import { readSkill } from "../read-skill.ts";
import type { SkillDesk } from "../skill-desk.ts";

/** Others may change the skill in the same moment so often. */
const MAX_ATTEMPTS = 5;

/** `save_skill`: makes a skill of the caller's, or its next version. A change of it takes its approval away. */
export function saveSkill(desk: SkillDesk): Tool {
  return defineTool(
    tools.saveSkill,
    (input, { caller, hasReadUntrusted = false }) =>
      withStore("save the skill", async () => {
        for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
          const saved = await saveOnce(desk, input, { caller, hasReadUntrusted });
          if (saved !== undefined) return saved;
        }
        throw new ToolError(ToolErrorCode.Unavailable, "The skill was not saved: others change it all the time. Read it again, and try once more.");
      }),
    { isResumable: true },
  );
}

/** @returns undefined if another change came between */
async function saveOnce(
  { skills, maxSkillsPerCaller, now }: SkillDesk,
  { name, content, version }: ToolSaveSkillInput,
  { caller, hasReadUntrusted }: { readonly caller: string; readonly hasReadUntrusted: boolean },
): Promise<ToolResult<ToolSaveSkillOutput> | undefined> {
  const id = idOf(caller, name);
  const before = await skills.store.get(id);
  const { summary, tags, faults } = readSkill(name, content);
  const others = before === undefined && (await skills.store.visibleTo(caller)).some((other) => other.name === name);
  if (others) faults.push(`name: you see a skill ${JSON.stringify(name)} of another caller. Choose another name`);
  const isVersion = before?.version ?? 0;
  const isUntrusted = hasReadUntrusted || before?.isUntrusted === true; // nobody takes it off
  const plain = { name, summary, tags, content, maker: caller, isUntrusted };
  const hash = skillHash(plain);
  if (before !== undefined && hash === before.hash) return savedResult("Nothing changes in", before); // also where this call has made the change
  if (version != null && version !== isVersion)
    faults.push(`version: the skill ${before === undefined ? "is not there" : `is version ${isVersion} by now`}, not version ${version}. Read it again`);
  if (faults.length > 0) throw new ToolError(ToolErrorCode.InvalidArguments, `The skill was not saved. ${faults.join("; ")}`);
  const at = now();
  const skill: KeptSkill = { createdAt: at, ...before, ...plain, id, hash, version: isVersion + 1, updatedAt: at };
  if (before === undefined) {
    const made = await skills.store.create(skill, maxSkillsPerCaller);
    if (made === "created") return savedResult("Saved", skill);
    if (made === "large") throw tooLarge("skill", caller);
    if (made !== "full") return undefined;
    const why = `"${caller}" has ${maxSkillsPerCaller} skills, which is all that it may have. Save it under the name of one that is there, or delete one`;
    throw new ToolError(ToolErrorCode.Denied, `The skill was not saved. ${why}`);
  }
  const outcome = await skills.store.update(skill);
  if (outcome === "large") throw tooLarge("skill", caller);
  return outcome === "changed" ? savedResult("Saved", skill) : undefined;
}

/** By its name, so that a call which is run again makes no second one. */
const idOf = (maker: string, name: string): string =>
  createHash("sha256")
    .update(JSON.stringify(["skill", maker, name]))
    .digest("hex")
    .slice(0, 24);

function savedResult(did: string, { name, summary, version, hash, approvedHash }: KeptSkill): ToolResult<ToolSaveSkillOutput> {
  const isShared = approvedHash === hash;
  return {
    content: `${did} the skill ${name}, version ${version}: ${summary} ${isShared ? "Others see it as it is." : "You alone see it."}`,
    structured: { name, summary, version, hash, is_shared: isShared },
  };
}
