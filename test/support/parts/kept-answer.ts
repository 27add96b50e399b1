/** Stores answers in an answer cache as a worker does. */
import { CacheWriter } from '../../../dns-worker/cache/cache-writer.ts';
import { hashName, nameFromText } from '../../../shared/dns/name.ts';
import { CacheMemory } from '../../../shared/memory/cache-memory.ts';

/** Properties of an answer, except its name and TTL. */
export interface KeptAnswer {
  readonly qtype?: number;
  readonly dnssecOk?: boolean;
  readonly checkingDisabled?: boolean;
  /** Partition of the cache: 0 = answers of the pools; other values are forward zones. */
  readonly partition?: number;
  readonly rcode?: number;
  /** Size of the records, bytes. */
  readonly size?: number;
}

/** Stores an answer with one record at `nowSecs` of the monotonic clock. */
export function keepAnswer(
  cache: SharedArrayBuffer,
  nowSecs: number,
  name: string,
  ttlSecs: number,
  answer: KeptAnswer = {},
): void {
  const {
    qtype = 1,
    dnssecOk = false,
    checkingDisabled = false,
    partition = 0,
    rcode = 0,
    size = 16,
  } = answer;
  const qname = nameFromText(name)!;
  const hash = { low: 0, high: 0 };
  hashName(qname, 0, 7, 8, hash);
  new CacheWriter(new CacheMemory(cache), 0).store(
    {
      qname,
      nameLow: hash.low,
      nameHigh: hash.high,
      qtype,
      qclass: 1,
      dnssecOk,
      checkingDisabled,
      partition,
    },
    {
      rcode,
      authenticated: false,
      answerCount: 1,
      authorityCount: 0,
      body: new Uint8Array(size),
      ttlOffsets: Uint16Array.from([6]),
      minTtlSecs: ttlSecs,
      negative: false,
      answersLength: size,
      ecsScope: 0,
    },
    {
      storedAtSecs: nowSecs,
      expiresAtSecs: nowSecs + ttlSecs,
      staleUntilSecs: nowSecs + ttlSecs,
      dnssec: 1,
      upstream: 1,
    },
  );
}
