// Language models by HTTP. Install @ai-sdk/openai-compatible, @ai-sdk/anthropic, @ai-sdk/provider and zod beside.
export {
  type CreateModelOptions,
  createModel,
  type Model,
  type ModelBehavior,
  type ModelBehaviors,
  ModelError,
  type ModelErrorCode,
} from "@rockbot/llm";
