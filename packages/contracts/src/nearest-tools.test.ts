import { expect, test } from "vitest";
import { nearestTools } from "./nearest-tools.ts";

const many = Array.from({ length: 5 }, (_, i) => `city${i}__get_forecast`);
const known = [
  ...["web_search", "web_browse", "get_tool_guide", "get_agent_details", "list_files", "execute_python_script"],
  ...["Weather-Server__get_weather", "rest__get_weather", "evil__bash", "files__echo", "notes__write_file", ...many],
];

test.each([
  ["get_weather", false, 'did you mean "Weather-Server__get_weather" or "rest__get_weather"?'],
  ["weather__getWeather", false, 'did you mean "Weather-Server__get_weather" or "rest__get_weather"?'],
  ["weather-server__get_weathr", true, 'did you mean "Weather-Server__get_weather"?'],
  ["web_serch", false, 'did you mean "web_search"?'],
  ["search_web", false, 'did you mean "web_search"?'], // the same words
  ["get_invoice", false, undefined], // "get" alone says nothing
  [
    "get_forecast",
    false,
    'did you mean "city0__get_forecast", "city1__get_forecast", "city2__get_forecast", or one of 2 more?',
  ],
  ["bash", false, 'did you mean "evil__bash"?'],
  ["bash", true, undefined], // whoever may not use ours is not sent to a stranger's
  ["secret__echo", true, undefined],
  ["files__ehco", true, 'did you mean "files__echo"?'],
  ["x".repeat(100_000), false, undefined],
  ["get_city_forecast_".repeat(8), false, undefined], // its length alone
])("%s, denied %s: %s", (name, isDenied, words) => {
  expect(nearestTools(name, known, { isDenied }).help).toBe(words);
});

test("compares a wrong name with each of many tools once, else it is not done in the time of a test", () => {
  const distant = Array.from({ length: 40_000 }, (_, i) => `files__${"abcdefghij".repeat(7)}${i}`);
  expect(nearestTools("zzqy".repeat(20), distant, { isDenied: false }).names).toEqual([]);
  expect(nearestTools(`mine__${"abcdefXhij".repeat(7)}`, distant, { isDenied: false }).names).toHaveLength(3);
});
