/** Streams every answered query as dnstap, if a receiver is configured (`logging.dnstap`). */
import type { Logger } from '../../../shared/log.ts';
import { Exclusion } from '../../../shared/query-log.ts';
import type { QueryLogRow } from '../rows/row.ts';
import { keptOf, type QueryLogPrivacy } from '../store/privacy.ts';
import { DNSTAP_CONTENT, DnstapFrames } from './dnstap-frame.ts';
import { FrameStream, type StreamCounters, type StreamTarget } from './frame-stream.ts';

export interface DnstapOptions {
  /** `logging.dnstap` */
  readonly target: string;
  /** The node's name. */
  readonly identity: string;
  readonly version: string;
  /** `database.query_log_privacy`; called for every row. */
  readonly privacy: () => QueryLogPrivacy;
  readonly logger: Logger;
}

/** A stream of answered queries. */
export class Dnstap {
  private readonly stream: FrameStream;
  private readonly frames: DnstapFrames;
  private readonly privacy: () => QueryLogPrivacy;

  constructor({ target, identity, version, privacy, logger }: DnstapOptions) {
    this.stream = new FrameStream({ target: streamTarget(target), contentType: DNSTAP_CONTENT, logger });
    this.frames = new DnstapFrames(identity, version);
    this.privacy = privacy;
  }

  /** Sends a row, or counts the row as lost; ignores rows that are excluded from the log. */
  append(row: QueryLogRow): void {
    if ((row.exclusion & Exclusion.LOG) !== 0) return;
    const privacy = this.privacy();
    if (privacy !== 'off' && this.stream.takesFrame())
      this.stream.send(this.frames.frameOf(row, keptOf(privacy)));
  }

  counters(): StreamCounters {
    return this.stream.counters();
  }

  /** Sends waiting frames and ends the stream. */
  close(withinMs: number): Promise<void> {
    return this.stream.close(withinMs);
  }
}

/** Parses `unix:/path` or `tcp:host:port`. */
function streamTarget(text: string): StreamTarget {
  const [, kind, rest = ''] = /^(unix|tcp):(.*)$/.exec(text) ?? [];
  if (kind === 'unix') return { path: rest };
  const colon = rest.lastIndexOf(':');
  return { host: rest.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(rest.slice(colon + 1)) };
}
