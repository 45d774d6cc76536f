import { saidBy, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { GoogleApi } from "../api/google-api.ts";
import { isTimeZone, zoneFault } from "../events/calendar-time.ts";
import { eventFacts, eventText } from "../events/event-facts.ts";
import { CALENDARS } from "./calendar-list-events.ts";

/** `calendar_get_event`: all that is known of one event. */
export function calendarGetEvent(api: GoogleApi): Tool {
  return defineTool(
    tools.calendarGetEvent,
    async ({ event_id, calendar_id = "primary", time_zone }, { caller, signal }) => {
      if (time_zone !== undefined && !isTimeZone(time_zone))
        throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot read the event: ${zoneFault(time_zone)}.`);
      const calendar = await api.of(caller, "calendar");
      const event = await calendar.ask([...CALENDARS, calendar_id, "events", event_id], {
        query: { timeZone: time_zone },
        signal,
        what: "read the event",
      });
      const facts = eventFacts(event, calendar_id);
      return {
        content: eventText(facts),
        structured: { account: calendar.account, event: facts },
        trust: saidBy(calendar.origin),
      };
    },
  );
}
