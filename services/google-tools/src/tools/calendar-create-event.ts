import { createHash } from "node:crypto";
import { type ToolCalendarCreateEventInput, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { AccountApi, GoogleApi } from "../api/google-api.ts";
import { calendarTime, eventTime, instantOf, isTimeZone, timeFault, zoneFault } from "../events/calendar-time.ts";
import { eventFacts, eventText } from "../events/event-facts.ts";
import { CALENDARS } from "./calendar-list-events.ts";

/**
 * `calendar_create_event`: creates an event, once for each call: its id follows from the call, so that a second
 * delivery finds it.
 */
export function calendarCreateEvent(api: GoogleApi): Tool {
  return defineTool(
    tools.calendarCreateEvent,
    async (input, { caller, signal, toolCallId }) => {
      const event = eventOf(input);
      const { calendar_id = "primary", send_updates = "all" } = input;
      const calendar = await api.of(caller, "calendar");
      const id = createHash("sha256")
        .update(JSON.stringify([caller, toolCallId]))
        .digest("hex");
      const made = await createOnce(calendar, calendar_id, { id, ...event }, send_updates, signal);
      const facts = eventFacts(made, calendar_id);
      return {
        content: `Created in the calendar of ${calendar.account}:\n\n${eventText(facts)}`,
        structured: { account: calendar.account, event: facts },
      };
    },
    { isResumable: true },
  );
}

/** After an answer that leaves open whether the event was created, its id shows whether it was. */
async function createOnce(
  calendar: AccountApi,
  calendarId: string,
  event: { readonly id: string },
  sendUpdates: string,
  signal: AbortSignal,
) {
  const path = [...CALENDARS, calendarId, "events"];
  try {
    return await calendar.ask(path, { query: { sendUpdates }, body: event, signal, what: "create the event" });
  } catch (error) {
    const mayExist =
      error instanceof ToolError && (error.code === ToolErrorCode.OutcomeUnknown || error.details?.["status"] === 409);
    if (!mayExist) throw error;
    return await calendar.ask([...path, event.id], { signal, what: "read the event" }).catch(() => {
      throw error;
    });
  }
}

/** As Calendar takes it. @throws {ToolError} `invalid_arguments` with all faults at once */
function eventOf({
  title,
  start,
  end,
  time_zone,
  description,
  location,
  attendees,
  reminders,
  recurrence,
}: ToolCalendarCreateEventInput): object {
  const [from, to] = [calendarTime(start), calendarTime(end)];
  const times = from === undefined || to === undefined ? undefined : { from, to };
  const isZone = time_zone === undefined || isTimeZone(time_zone);
  const isAllDay = from?.kind === "date";
  const zone = time_zone !== undefined && isZone ? time_zone : "UTC";
  const faults = [
    ...(from === undefined ? [timeFault("start", start)] : []),
    ...(to === undefined ? [timeFault("end", end)] : []),
    ...(isZone ? [] : [zoneFault(time_zone ?? "")]),
    ...(times !== undefined && (times.from.kind === "date") !== (times.to.kind === "date")
      ? ["start and end have to be both dates or both times"]
      : []),
    ...(time_zone === undefined && [from, to].some((time) => time?.kind === "local")
      ? ["time_zone is needed for a time without an offset"]
      : []),
    ...(time_zone === undefined && recurrence !== undefined && !isAllDay
      ? ["time_zone is needed for an event that comes again"]
      : []),
    ...(times !== undefined && Date.parse(instantOf(times.from, zone)) >= Date.parse(instantOf(times.to, zone))
      ? ["end has to be after start; of days it is the day after the last"]
      : []),
  ];
  if (faults.length > 0 || times === undefined)
    throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot create the event: ${faults.join("; ")}.`);
  return {
    summary: title,
    start: eventTime(times.from, time_zone),
    end: eventTime(times.to, time_zone),
    ...(description === undefined ? {} : { description }),
    ...(location === undefined ? {} : { location }),
    ...(attendees === undefined ? {} : { attendees: attendees.map((email) => ({ email })) }),
    ...(recurrence === undefined ? {} : { recurrence }),
    ...(reminders === undefined ? {} : { reminders: { useDefault: false, overrides: reminders } }),
  };
}
