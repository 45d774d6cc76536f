/**
 * Calls each function once, at the end of this turn of the event loop. It calls all of them in one go, so that their
 * writes to a socket can leave together.
 */
export function endOfTurn(): (work: () => void) => void {
  let due: (() => void)[] = [];
  return (work) => {
    if (due.push(work) > 1) return;
    setImmediate(() => {
      const all = due;
      due = [];
      for (const each of all) each();
    });
  };
}
