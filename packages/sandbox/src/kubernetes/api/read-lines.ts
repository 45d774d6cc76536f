/**
 * The whole lines of a stream, without their ends; what comes after the last of them is left out.
 * @throws {RangeError} if a line is longer than `maxBytes`; what the stream fails with
 */
export async function* readLines(stream: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, end)]).toString();
      rest = [];
      restBytes = 0;
      from = end + 1;
    }
    restBytes += chunk.length - from;
    if (restBytes > maxBytes) throw new RangeError(`Cannot read lines: one is longer than ${maxBytes} bytes`);
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
}
