/** Reads server-sent events (HTML Living Standard, section 9.2) as far as Weir sends them. */

/** The data of each event, as JSON. Comments and other fields are left out. */
export async function* serverEvents(response: Response): AsyncGenerator<unknown, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body ?? []) {
    const events = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split(/\r?\n\r?\n/);
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = [...event.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line);
      if (data.length > 0) yield JSON.parse(data.join('\n')) as unknown;
    }
  }
  return undefined;
}
