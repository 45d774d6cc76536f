// What tests of plugins in packages of their own need: a scripted model, turns, definitions, an agent that dies.
export { definitionsOf, testDefinition } from "./test-definitions.ts";
export { called, said, scriptedModel, type TestStep } from "./test-model.ts";
export { Mortal } from "./test-mortal.ts";
export { testRequest, testTool } from "./test-turn.ts";
