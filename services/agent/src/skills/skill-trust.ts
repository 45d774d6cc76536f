import type { KeptSkill } from "@rockbot/agent";
import { saidBy } from "@rockbot/contracts";

/** For skills of which one was written after strangers' content was read. */
export function skillTrust(skills: readonly KeptSkill[]) {
  const untrusted = skills.find(({ isUntrusted }) => isUntrusted);
  return untrusted === undefined ? {} : { trust: saidBy(`skill ${untrusted.name}`) };
}
