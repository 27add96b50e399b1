/** The formats in which the log is exported, with their writers. */
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { type TextFormat, TextFormats } from './export-text.ts';

/** A file that is being written: each call returns bytes to send. */
export interface ExportWriter {
  add(rows: readonly LoggedQuery[]): string | Uint8Array;
  /** The rest of the file. */
  end(): string | Uint8Array;
}

/** A format. */
export interface ExportFormat {
  readonly mediaType: string;
  readonly contentType: string;
  readonly open: () => Promise<ExportWriter>;
}

/** The formats, by the name that requests use. */
export const ExportFormats = {
  csv: textFormat('text/csv', TextFormats.csv),
  ndjson: textFormat('application/x-ndjson', TextFormats.ndjson),
  parquet: {
    mediaType: 'application/vnd.apache.parquet',
    contentType: 'application/vnd.apache.parquet',
    open: async () => {
      // Loaded on demand, because the module is large and rarely needed.
      const { ParquetExport } = await import('./export-parquet.ts');
      return new ParquetExport();
    },
  },
} as const satisfies Record<string, ExportFormat>;

function textFormat(mediaType: string, format: TextFormat): ExportFormat {
  return {
    mediaType,
    contentType: `${mediaType}; charset=utf-8`,
    open: () => Promise.resolve(new TextExport(format)),
  };
}

class TextExport implements ExportWriter {
  private readonly format: TextFormat;
  private head: string;

  constructor(format: TextFormat) {
    this.format = format;
    this.head = format.head;
  }

  add(rows: readonly LoggedQuery[]): string {
    return this.takeHead() + rows.map(this.format.textOf).join('');
  }

  end(): string {
    return this.takeHead();
  }

  private takeHead(): string {
    const { head } = this;
    this.head = '';
    return head;
  }
}
