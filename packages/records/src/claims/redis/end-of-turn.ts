/**
 * Calls what it is given once, at the end of this turn of the event loop: all of it in one go, so that what each writes to a
 * socket can leave together.
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
