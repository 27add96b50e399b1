/**
 * Finds answered queries for names of probes. Runs in the log thread, while the probes themselves are in the main
 * thread.
 */
import { isProbeName, PROBE_TOKEN_LENGTH } from '../../../shared/dns/probe-zone.ts';
import { addressToText } from '../../../shared/net/ip.ts';
import { PROTOCOL_NAMES, type ProtocolName } from '../../../shared/query-log.ts';
import type { QueryLogRow } from '../../query-log/rows/row.ts';

/** A query for the name of a probe. */
export interface ProbeQuery {
  /** First label of the name. */
  readonly token: string;
  /** Unix milliseconds. */
  readonly askedMs: number;
  readonly client: string;
  readonly protocol: ProtocolName;
}

/** Finds the queries for the names of open probes. */
export class ProbeWatch {
  private tokens: ReadonlySet<string> = new Set();

  /** Replaces the tokens of open probes. */
  use(tokens: readonly string[]): void {
    this.tokens = new Set(tokens);
  }

  /** Returns the query if it is for the name of a probe, or null. */
  find({ bytes, qname, client, protocol, timestampMs }: QueryLogRow): ProbeQuery | null {
    if (this.tokens.size === 0 || !isProbeName(bytes, qname.at, qname.length)) return null;
    const token = Buffer.from(bytes.buffer, bytes.byteOffset + qname.at + 1, PROBE_TOKEN_LENGTH).toString(
      'latin1',
    );
    if (!this.tokens.has(token)) return null;
    return {
      token,
      askedMs: Math.floor(timestampMs),
      client: addressToText(bytes, client.at),
      protocol: PROTOCOL_NAMES[protocol]!,
    };
  }
}
