import { deadline } from "./layers/deadline.ts";
import { callingNames, record, servingNames } from "./layers/record.ts";
import { validate } from "./layers/validate.ts";
import type { Tool } from "./define-tool.ts";
import type { ToolExecutor, ToolLayer } from "./tool-executor.ts";

// The order of the layers stands here and nowhere else, outermost first.

/** The tool with every layer of the serving side around it. */
export function withServingLayers({ definition, executor }: Tool): ToolExecutor {
  return wrap(executor, [recordServing, validate(definition), deadline]);
}

/** The executor with every layer of the calling side around it: the deadline holds even if the bus and the service are gone. */
export function withCallingLayers(executor: ToolExecutor): ToolExecutor {
  return wrap(executor, [recordCalling, deadline]);
}

const recordServing = record(servingNames);
const recordCalling = record(callingNames);

const wrap = (executor: ToolExecutor, layers: readonly ToolLayer[]): ToolExecutor => layers.reduceRight((inner, layer) => layer(inner), executor);
