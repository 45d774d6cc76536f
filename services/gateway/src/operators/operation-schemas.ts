// The JSON Schemas that answers for operators are made of.

export const text = { type: "string" };
export const count = { type: "integer", minimum: 0 };
export const time = { type: "integer", description: "Unix milliseconds." };
export const flag = { type: "boolean" };
export const list = (items: object): object => ({ type: "array", items });
export const objectOf = (required: Record<string, object>, optional: Record<string, object> = {}): object => ({
  type: "object",
  required: Object.keys(required),
  properties: { ...required, ...optional },
});
