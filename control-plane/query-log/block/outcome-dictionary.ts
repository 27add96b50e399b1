/** Distinct outcomes of the queries of a block that is being filled, each with its number of queries. */
import {
  DECISION_ORIGINS,
  DNSSEC_STATUS_NAMES,
  isBlockedStatus,
  PROTOCOL_NAMES,
  QUERY_STATUS_NAMES,
  type QueryStatusCode,
} from '../../../shared/query-log.ts';
import { type QueryLogRow, UNKNOWN_ANSWER } from '../rows/row.ts';
import type { HeadOutcome } from './block-layout.ts';
import { WordDictionary } from './word-dictionary.ts';

/** An outcome as a tuple of numbers. */
const OutcomeWord = {
  /** QTYPE; from bit 16 on, the RCODE. */
  QTYPE: 0,
  /** Small values, at the bit positions in `Small`. */
  SMALL: 1,
  /** Index of the upstream plus one; 0 = none. */
  UPSTREAM: 2,
  /** Type of the first answer record; from bit 16 on, the extended error plus one. */
  ANSWER: 3,
  /** Index of the origin plus one; 0 = none. */
  ORIGIN: 4,
} as const;
/** Positions, in bits, of the values in the word `SMALL`. */
const Small = { STATUS: 0, PROTOCOL: 8, DNSSEC: 16, CACHED: 24 } as const;

/** Outcomes in order of arrival. */
export class OutcomeDictionary {
  private readonly outcomes = new WordDictionary();
  private readonly upstreams: string[] = [];
  /** The upstream of the previous query, and its index plus one. */
  private lastUpstream: string | null = null;
  private lastUpstreamNumber = 0;

  get size(): number {
    return this.outcomes.size;
  }

  /** Index of the outcome of a row; adds the outcome if it is missing, and counts the row. */
  place(row: QueryLogRow): number {
    const small =
      (row.status << Small.STATUS) |
      (row.protocol << Small.PROTOCOL) |
      (row.dnssec << Small.DNSSEC) |
      ((row.cached ? 1 : 0) << Small.CACHED);
    const upstream = row.upstream === this.lastUpstream ? this.lastUpstreamNumber : this.numberUpstream(row);
    const answer = row.answerType | ((row.extendedError + 1) << 16);
    const origin = row.origin === null ? 0 : DECISION_ORIGINS.indexOf(row.origin) + 1;
    return this.outcomes.place(row.qtype | (row.rcode << 16), small, upstream, answer, origin);
  }

  /** All outcomes, as in the head of a block. */
  head(): HeadOutcome[] {
    const { outcomes } = this;
    return Array.from({ length: outcomes.size }, (_, place) => {
      const types = outcomes.wordOf(place, OutcomeWord.QTYPE);
      const small = outcomes.wordOf(place, OutcomeWord.SMALL);
      const upstream = outcomes.wordOf(place, OutcomeWord.UPSTREAM);
      const answer = outcomes.wordOf(place, OutcomeWord.ANSWER);
      const outcome = [
        types & 0xffff,
        QUERY_STATUS_NAMES[(small >>> Small.STATUS) & 0xff]!,
        types >>> 16,
        PROTOCOL_NAMES[(small >>> Small.PROTOCOL) & 0xff]!,
        DNSSEC_STATUS_NAMES[(small >>> Small.DNSSEC) & 0xff]!,
        small >>> Small.CACHED === 1,
        upstream === 0 ? null : this.upstreams[upstream - 1]!,
        outcomes.countOf(place),
      ] as const;
      const answerType = answer & 0xffff;
      if (answerType === UNKNOWN_ANSWER) return outcome;
      const extendedError = (answer >>> 16) - 1;
      const origin = DECISION_ORIGINS[outcomes.wordOf(place, OutcomeWord.ORIGIN) - 1] ?? null;
      return [...outcome, answerType, extendedError, origin];
    });
  }

  /** 1 for each outcome that counts as blocked. */
  blocked(): Uint8Array {
    return this.markStatuses(isBlockedStatus);
  }

  /** 1 for each outcome with the given status. */
  withStatus(status: QueryStatusCode): Uint8Array {
    return this.markStatuses((code) => code === status);
  }

  private markStatuses(isMarked: (code: number) => boolean): Uint8Array {
    const statusOf = (place: number): number =>
      (this.outcomes.wordOf(place, OutcomeWord.SMALL) >>> Small.STATUS) & 0xff;
    return Uint8Array.from({ length: this.outcomes.size }, (_, place) => (isMarked(statusOf(place)) ? 1 : 0));
  }

  clear(): void {
    this.outcomes.clear();
    this.upstreams.length = 0;
    this.lastUpstream = null;
    this.lastUpstreamNumber = 0;
  }

  /** Index of the upstream plus one, by linear search, because a block contains only few upstreams. */
  private numberUpstream({ upstream }: QueryLogRow): number {
    const place = upstream === null ? -1 : this.upstreams.indexOf(upstream);
    if (upstream === null) this.lastUpstreamNumber = 0;
    else this.lastUpstreamNumber = place >= 0 ? place + 1 : this.upstreams.push(upstream);
    this.lastUpstream = upstream;
    return this.lastUpstreamNumber;
  }
}
