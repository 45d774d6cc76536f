import type { ModelBehaviors } from "@rockbot/llm";
import { loadConfig } from "@rockbot/process/config";
import { behaviorsSchema } from "../generated/behaviors.ts";

/** The behaviours of models by the beginnings of their names; none without a file. @throws {ConfigError} with all faults at once */
export const readBehaviors = (file: string | undefined): ModelBehaviors =>
  file === undefined ? {} : (loadConfig(behaviorsSchema, { env: {}, file }) as ModelBehaviors);
