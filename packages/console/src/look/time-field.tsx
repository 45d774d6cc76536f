const MINUTE_MS = 60_000;

/** The time in the viewer's zone, as an input has it. */
const localTime = (at: number | undefined): string =>
  at === undefined ? "" : new Date(at - new Date(at).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 19);

/** A field for a time in the viewer's zone. With `onChange` it shows `at`; else it begins with that, and a form has it. */
export function TimeField({
  name,
  at,
  onChange,
}: {
  readonly name: string;
  /** Unix milliseconds. */
  readonly at: number | undefined;
  readonly onChange?: (at: number) => void;
}) {
  const shown = onChange === undefined ? { defaultValue: localTime(at) } : { value: localTime(at) };
  return (
    <label className="field">
      <span className="quiet">{name}</span>
      <input
        type="datetime-local"
        step={1}
        name={name}
        {...shown}
        onChange={onChange && (({ target }) => onChange(new Date(target.value).getTime()))}
      />
    </label>
  );
}
