import { expect, test } from "vitest";
import { showUntil } from "./show-until.ts";

test.each<[what: string, stops: readonly string[], deltas: readonly string[], shown: readonly string[]]>([
  ["what may begin a stop is held back", ["END"], ["abE", "Nd", "."], ["a", "bE", "Nd."]],
  ["a stop is found across deltas, and the first one counts", ["END", "DONE"], ["a DO", "NE END", "b"], ["a", " ", ""]],
  ["a stop that is never found cuts nothing", ["END"], ["ab", "cd"], ["", "abcd"]],
  ["a pair of surrogates stays whole", ["END"], ["ab\u{1F600}c", "d"], ["ab", "\u{1F600}cd"]],
  ["without stops all is shown at once", [], ["ab", "c"], ["ab", "c"]],
])("%s", (_, stops, deltas, shown) => {
  const show = showUntil(stops);
  expect(deltas.map((delta, index) => show(delta, index === deltas.length - 1))).toEqual(shown);
});
