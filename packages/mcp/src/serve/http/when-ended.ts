/**
 * The response. Calls `onEnd` once its body has been read to the end or is not wanted any more; at once if it is
 * no stream.
 */
export function whenEnded(response: Response, onEnd: () => void): Response {
  const { body, status, headers } = response;
  if (body === null || !(headers.get("content-type") ?? "").startsWith("text/event-stream")) {
    onEnd();
    return response;
  }
  const reader = body.getReader();
  const monitored = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          onEnd();
          controller.close();
        } catch (error) {
          onEnd();
          throw error;
        }
      },
      async cancel(reason) {
        onEnd();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(monitored, { status, headers });
}
