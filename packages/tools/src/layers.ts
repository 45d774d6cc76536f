import type { Tool } from "./define-tool.ts";
import type { CallClaims } from "./layers/claim.ts";
import { deadline } from "./layers/deadline.ts";
import { callingNames, record, servingNames } from "./layers/record.ts";
import { start } from "./layers/start.ts";
import { validate } from "./layers/validate.ts";
import type { ToolExecutor, ToolLayer } from "./tool-executor.ts";

// The order of the layers stands here and nowhere else, outermost first.

/** The tool with every layer of the serving side around it; without claims each delivery of a call runs it. */
export function withServingLayers({ definition, executor }: Tool, claims?: CallClaims): ToolExecutor {
  return wrap(executor, [record(servingNames), validate(definition), ...(claims === undefined ? [] : [claims.layer(definition)]), deadline, start]);
}

/** The executor with every layer of the calling side around it: the deadline holds even if the bus and the service are gone. */
export function withCallingLayers(executor: ToolExecutor): ToolExecutor {
  return wrap(executor, [record(callingNames), deadline]);
}

const wrap = (executor: ToolExecutor, layers: readonly ToolLayer[]): ToolExecutor => layers.reduceRight((inner, layer) => layer(inner), executor);
