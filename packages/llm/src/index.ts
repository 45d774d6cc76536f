// A model, and what it is asked.

export { createEmbedder, type Embedder, type Embeddings } from "./create-embedder.ts";
export { type CreateModelOptions, createModel } from "./create-model.ts";
export { type ListModelsOptions, listModels, type OfferedModel } from "./list-models.ts";
export type {
  AnswerForm,
  Model,
  ModelAnswer,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelToolCall,
  ModelUsage,
  ProviderData,
} from "./model.ts";
export { ModelError, type ModelErrorCode, type ModelErrorOptions } from "./model-error.ts";

// How a model wants to be treated.

export { behaviorOf } from "./behavior/behavior-of.ts";
export type { ModelBehavior, ModelBehaviors, ModelPrice } from "./behavior/model-behavior.ts";
