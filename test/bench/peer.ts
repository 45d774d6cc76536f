/**
 * One process of a contender: its caller, its service, or what is between them, as the arguments say. Takes orders from
 * the bench.
 */

import { closedLoop, type LoopOptions } from "./closed-loop.ts";
import type { Contender, Place } from "./contender.ts";

/** What the bench asks for; each is answered by one message. */
export type Order =
  | { readonly kind: "round"; readonly options: LoopOptions }
  | { readonly kind: "cpu" }
  | { readonly kind: "end" };

const [file = "", role = "", place = "{}", front] = process.argv.slice(2);
const contender = (await import(file)) as Contender;
const at = JSON.parse(place) as Place;
const caller = role === "caller" ? await contender.connect(at, front) : undefined;
const address = role === "front" ? await contender.front?.(at) : undefined;
if (role === "service") await contender.serve?.(at);

process.on("message", (order: Order) => {
  run(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on("disconnect", () => process.exit()); // what is measured is over: nothing has to end in order
process.send?.({ result: address });

async function run(order: Order): Promise<unknown> {
  if (order.kind === "round" && caller !== undefined) return closedLoop(caller, order.options);
  const { user, system } = process.cpuUsage();
  if (order.kind === "end") setImmediate(() => process.exit()); // writes the profile, if one is made
  return user + system;
}
