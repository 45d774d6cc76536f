/** A number as a sandbox is told it: whole, not below zero, and one that both sides know exactly, whatever it was. */
export function whole(value: number): number {
  return Number.isNaN(value) ? 0 : Math.min(Math.max(Math.round(value), 0), Number.MAX_SAFE_INTEGER);
}
