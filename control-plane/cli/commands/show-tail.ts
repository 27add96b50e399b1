/** `weir tail`: shows queries as they are answered. */
import type { EventOf } from '../../../shared/api/client/typed-client.ts';
import { fitted, printable, printableJson } from '../output/printable.ts';
import { formatMillis } from '../output/quantities.ts';
import { toned } from '../output/screen.ts';
import type { Screen } from '../output/screen.ts';
import { Unreachable } from '../remote/node-fetch.ts';
import { textOption } from './command-run.ts';
import type { CommandRun } from './command-run.ts';

type Event = EventOf<'GET /queries/stream'>;
type Row = Event['rows'][number];

/** Widths of the columns. */
const Width = { CLIENT: 24, NAME: 40, TYPE: 6, STATUS: 20, TIME: 9 } as const;

/** Prints a line, or a JSON object, for each query. Runs until the stream ends. */
export async function showTail(run: CommandRun): Promise<never> {
  const { client, screen, isJson } = run;
  const filters = ['client', 'domain', 'type', 'status'] as const;
  const query = Object.fromEntries(filters.map((name) => [name, textOption(run, name)]));
  const response = await client.call('GET /queries/stream', { query });
  try {
    for await (const event of serverEvents(response)) {
      const { rows, skipped } = event as Event;
      for (const row of rows) screen.out(isJson ? printableJson(row) : lineOf(screen, row));
      if (skipped > 0) screen.err(`weir: ${skipped} more queries were left out`);
    }
  } catch (error) {
    throw new Unreachable('the server has closed the connection', { cause: error });
  }
  throw new Unreachable('the server has ended the stream');
}

function lineOf(screen: Screen, row: Row): string {
  const { columns } = screen;
  const spare = columns === null ? 0 : columns - MIN_COLUMNS;
  const clock = row.timestamp.slice(11, 23);
  const client = printable(row.client_hostname ?? row.client);
  const cells = [
    toned(screen, 'weak', clock),
    fitted(client, Width.CLIENT, 'left'),
    fitted(printable(row.domain), Width.NAME + Math.max(0, spare), 'left'),
    fitted(printable(row.type), Width.TYPE, 'left'),
    toned(
      screen,
      row.status.startsWith('BLOCKED') ? 'bad' : 'good',
      fitted(row.status, Width.STATUS, 'left'),
    ),
    fitted(formatMillis(row.response_time_us), Width.TIME, 'right'),
  ];
  if (row.repeats > 0) cells.push(`+${String(row.repeats)}`);
  const source = row.block_source ?? row.upstream;
  if (columns === null && source !== null) cells.push(printable(source));
  return cells.join(' ');
}

const MIN_COLUMNS = 12 + Width.CLIENT + Width.NAME + Width.TYPE + Width.STATUS + Width.TIME + 5;

/** Parses the data of each server-sent event as JSON. Ignores comments and other fields. */
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
