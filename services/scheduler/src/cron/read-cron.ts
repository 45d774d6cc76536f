import { Cron } from "croner";
import { isTimeZone } from "../time/zoned-time.ts";

/** The fire times of one cron expression in one time zone, in Unix milliseconds. */
export interface CronTimes {
  /** The first one after that moment; undefined if there is none. */
  next(after: number): number | undefined;
  /** The last one up to that moment, which may be that moment; undefined if there is none. */
  latest(upTo: number): number | undefined;
}

/** A cron expression cannot be read. */
export class CronError extends Error {
  override readonly name = "CronError";
}

const FIELDS = /^\S+(?:\s+\S+){4,5}$/;

/**
 * Reads five fields, or six of which the first is seconds. A day has to match its day of month and its day of week, as
 * in the .NET original. Where clocks are set forward, an expression without a wildcard in its time fields fires at the
 * first moment after the gap; where they are set back, it fires at the first of two equal times. Expressions with a
 * wildcard there fire by elapsed time.
 * @throws {CronError} in words
 */
export function readCron(text: string, zone: string): CronTimes {
  const trimmed = text.trim();
  if (!FIELDS.test(trimmed))
    throw new CronError(`it has ${countOf(trimmed)}, and a cron expression has five, or six with seconds first`);
  if (!isTimeZone(zone)) throw new CronError(`the time zone "${zone}" is not known here`); // croner looks at it when it computes a fire
  const cron = open(trimmed, zone);
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime(),
    latest: (upTo) => cron.previousRuns(1, new Date(upTo + 1_000 - (upTo % 1_000)))[0]?.getTime(), // it looks before a whole second
  };
}

function open(text: string, zone: string): Cron {
  try {
    return new Cron(text, {
      timezone: zone,
      mode: "5-or-6-parts",
      domAndDow: true,
      fixedTimeRule: "no-wildcard",
      paused: true,
    });
  } catch (error) {
    throw new CronError(inWords((error as Error).message), { cause: error });
  }
}

/** The texts of croner begin with the names of its classes. */
function inWords(message: string): string {
  const text = message.replace(/^Cron\w*: (?:Syntax error, )?/, "");
  return text.slice(0, 1).toLowerCase() + text.slice(1).replace(/\.$/, "");
}

function countOf(text: string): string {
  const count = text === "" ? 0 : text.split(/\s+/).length;
  return count === 1 ? "1 field" : `${count} fields`;
}
