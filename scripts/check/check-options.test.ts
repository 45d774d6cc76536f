import { expect, test } from "vitest";
import { findOptions } from "./check-options.ts";

const text = `
interface Base { readonly a: number; readonly b: number }
/** What it is. Many because: the policy has as many. */
export interface FineOptions extends Base, Pick<Other, "c" | "d"> {
  /** A field. */
  readonly e?: number;
  on(): void;
}
export interface FewSettings extends Elsewhere { readonly a: 1 }
export interface Decision { readonly a: 1 }
`;

test("fields are an interface's own, those of one in the file that it extends, and those that it picks", () => {
  expect(findOptions("a.ts", text)).toEqual([
    { name: "FineOptions", line: 4, fields: 6, reason: "the policy has as many." },
    { name: "FewSettings", line: 9, fields: 1, reason: undefined },
  ]);
});
