/** HTTP routes of `{api}/queries/export`. */
import type { Response } from 'express';
import { once } from 'node:events';
import { type LoggedQuery, QueryLogExport } from '../../../shared/api/query-log-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { holderOf, Places } from '../../api/places.ts';
import type { PlaceLimits } from '../../api/places.ts';
import { ExportFormats, type ExportWriter } from './export-formats.ts';
import { type KnownClients, selectionOf } from './log-request.ts';
import type { QueryLogReader } from './query-log-reader.ts';

/** Maximum number of concurrent exports, because each keeps some blocks in memory. */
const LIMITS: PlaceLimits = { total: 4, perCaller: 2 };

/** The route of the export. */
export function queryExportRoutes(context: {
  clock: Clock;
  clients: KnownClients;
  queryLog: Pick<QueryLogReader, 'rows'>;
}): Route[] {
  const { clock, clients, queryLog } = context;
  const places = new Places('exports', LIMITS);
  const row = route({
    method: 'GET',
    path: '/queries/export',
    access: 'viewer',
    tag: 'Statistics',
    summary: 'The query log as a file, newest first',
    query: QueryLogExport,
    media: Object.values(ExportFormats).map(({ mediaType }) => mediaType),
    errors: { 429: 'too many concurrent exports; see Retry-After' },
    handle: async ({ query: { format, ...filters }, caller, http, response, gone }) => {
      const selection = selectionOf(filters, clock.nowMs(), clients);
      const headers = headersOf(format, clock.nowMs());
      if (http.method === 'HEAD') return void response.set(headers);
      const leave = places.take(holderOf(caller));
      try {
        const writer = await ExportFormats[format].open();
        await send(queryLog.rows(selection, gone), writer, headers, response, gone);
      } finally {
        leave();
      }
    },
  });
  return [row];
}

/** Writes rows as fast as the client reads them. A failure before the first row can still be reported as a problem. */
async function send(
  rows: AsyncGenerator<readonly LoggedQuery[]>,
  writer: ExportWriter,
  headers: Record<string, string>,
  response: Response,
  gone: AbortSignal,
): Promise<void> {
  for await (const some of rows) {
    if (!response.headersSent) response.set(headers);
    const part = writer.add(some);
    if (part.length > 0 && !response.write(part)) await once(response, 'drain', { signal: gone });
  }
  if (!response.headersSent) response.set(headers);
  response.end(writer.end());
}

function headersOf(format: keyof typeof ExportFormats, nowMs: number): Record<string, string> {
  const moment = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return {
    'Content-Type': ExportFormats[format].contentType,
    'Content-Disposition': `attachment; filename="weir-queries-${moment}.${format}"`,
  };
}
