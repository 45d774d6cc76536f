import fc from "fast-check";
import { test } from "vitest";
import { LeadingThought } from "./leading-thought.ts";

function shown(pieces: readonly string[]): string {
  const thought = new LeadingThought();
  return pieces.map((piece) => thought.show(piece)).join("") + thought.rest();
}

test.each([
  ["<think>It is noon, I think.</think>\n\nIt is noon.", "It is noon."],
  ["\n<thinking>Hm.</thinking>It is noon.", "It is noon."],
  ["<think>\n</think>\n<think>Again.</think>\nIt is noon.", "It is noon."],
  ["<think>It never ends", ""],
  ["It is <think>noon</think>.", "It is <think>noon</think>."],
  ["<thin", "<thin"],
  ["<table>", "<table>"],
  ["  two spaces", "  two spaces"],
  ["", ""],
])("of %j one sees %j, however it comes", (text, expected) => {
  const cuts = fc.array(fc.nat(text.length), { maxLength: 8 });
  const pieces = (at: readonly number[]): string[] => {
    const ends = [0, ...[...at].sort((a, b) => a - b), text.length];
    return ends.slice(1).map((end, index) => text.slice(ends[index], end));
  };
  fc.assert(fc.property(cuts, (at) => shown(pieces(at)) === expected));
});
