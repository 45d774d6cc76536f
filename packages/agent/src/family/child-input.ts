import { isRecord } from "@rockbot/base";
import type { Validator } from "@rockbot/contracts";

/** The arguments of a call of an agent. */
export interface ChildInput {
  readonly prompt: string;
}

/** A prompt has so many characters at most, as the message of a user. */
const MAX_PROMPT = 262_144;

export const childInputSchema = {
  type: "object",
  additionalProperties: false,
  required: ["prompt"],
  properties: {
    prompt: {
      type: "string",
      minLength: 1,
      maxLength: MAX_PROMPT,
      description: "The whole task. The agent knows nothing of this conversation.",
    },
  },
} as const;

/** Says what the schema says. Definitions come and go, and each of them has this one. */
export const validateChildInput: Validator<ChildInput> = (value): value is ChildInput => {
  const prompt = isRecord(value) ? value["prompt"] : undefined;
  const unknown = isRecord(value) ? Object.keys(value).find((name) => name !== "prompt") : undefined;
  const fault = (keyword: string, instancePath: string, params: Record<string, unknown>, at: string) => {
    validateChildInput.errors = [{ keyword, instancePath, schemaPath: `#/${at}`, params }];
    return false;
  };
  validateChildInput.errors = null;
  if (prompt === undefined) return fault("required", "", { missingProperty: "prompt" }, "required");
  if (typeof prompt !== "string") return fault("type", "/prompt", { type: "string" }, "properties/prompt/type");
  if (prompt === "") return fault("minLength", "/prompt", { limit: 1 }, "properties/prompt/minLength");
  if (prompt.length > MAX_PROMPT)
    return fault("maxLength", "/prompt", { limit: MAX_PROMPT }, "properties/prompt/maxLength");
  return (
    unknown === undefined || fault("additionalProperties", "", { additionalProperty: unknown }, "additionalProperties")
  );
};
