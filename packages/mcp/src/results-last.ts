import { isJSONRPCErrorResponse, isJSONRPCResultResponse, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";

type Listener = NonNullable<Transport["onmessage"]>;

/**
 * Makes a transport hand over results a turn later than notifications. The SDK handles a notification a moment after it came and a
 * result at once: progress that came together with its result, as happens on one stream for all, would be lost.
 */
export function resultsLast<T extends Transport>(transport: T): T {
  let listener: Listener | undefined;
  const deliver: Listener = (message, extra) => {
    const isResult = isJSONRPCResultResponse(message as JSONRPCMessage) || isJSONRPCErrorResponse(message as JSONRPCMessage);
    if (isResult) setImmediate(() => listener?.(message, extra));
    else listener?.(message, extra);
  };
  Object.defineProperty(transport, "onmessage", {
    get: () => (listener === undefined ? undefined : deliver),
    set(given: Listener | undefined) {
      listener = given === deliver ? listener : given;
    },
  });
  return transport;
}
