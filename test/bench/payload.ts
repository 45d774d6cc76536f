/**
 * What a call carries and gives back: one text, or rows as tools have them. Either is an object, whose members are the
 * tool's arguments.
 */
export interface Payload {
  readonly text?: string;
  readonly rows?: readonly Row[];
}

interface Row {
  readonly id: number;
  readonly name: string;
  readonly price: number;
  readonly isSold: boolean;
  readonly tags: readonly string[];
}

export const payloadKinds = ["text", "rows"] as const;
export type PayloadKind = (typeof payloadKinds)[number];

/** Makes payloads of about so many bytes of JSON, each with its serial number in it. */
export function payloadMaker(kind: PayloadKind, bytes: number): (serial: number) => Payload {
  if (kind === "text") {
    const padding = "x".repeat(bytes);
    return (serial) => ({ text: `${serial}:${padding}`.slice(0, bytes) });
  }
  const rows = Math.max(1, Math.round(bytes / JSON.stringify(rowOf(0)).length));
  const rest = Array.from({ length: rows - 1 }, (_, index) => rowOf(index + 1));
  return (serial) => ({ rows: [rowOf(serial), ...rest] });
}

const rowOf = (id: number): Row => ({
  id,
  name: `Article "${id % 100}"`,
  price: (id % 1000) / 100,
  isSold: id % 2 === 0,
  tags: ["new", "bench\\rows"],
});

/**
 * Tells whether an answer is that to a payload, by its serial number and its length: comparing all of it would be a
 * part of the measurement.
 */
export function isAnswerTo(asked: Payload, answered: Payload): boolean {
  if (asked.rows !== undefined)
    return answered.rows?.length === asked.rows.length && answered.rows[0]?.id === asked.rows[0]?.id;
  return answered.text === asked.text;
}
