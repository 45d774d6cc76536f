/** As `make`, which is asked once for each key while at most `max` keys are remembered. */
export function remembered<Value extends object>(make: (key: string) => Value, max = 1_000): (key: string) => Value {
  const known = new Map<string, Value>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= max) known.clear();
    const made = make(key);
    known.set(key, made);
    return made;
  };
}
