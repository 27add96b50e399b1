/** Zones that tests generate and sign (Ed25519), and a resolver that answers from a table of their records. */
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto';
import { Dnskey } from '../../../dns-worker/dnssec/dnskey.ts';
import { signedData } from '../../../dns-worker/dnssec/signature.ts';
import type { QuestionResolver } from '../../../dns-worker/dnssec/validating-resolver.ts';
import type { CacheableAnswer } from '../../../dns-worker/resolve/response/cacheable-answer.ts';
import type { Question } from '../../../dns-worker/resolve/response/question.ts';
import type { Resolution } from '../../../dns-worker/resolve/resolution.ts';
import { Rcode, rrTypeName } from '../../../shared/dns/iana.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import { octets, wireName } from './built-messages.ts';
import { readRecords, signedSets, textAnswer } from './record-text.ts';

/** Default validity period of signatures, seconds since the epoch. */
export const INCEPTION = 1_800_000_000;
export const EXPIRATION = 1_800_600_000;

/** First bytes of a private key of Ed25519 in PKCS #8 (RFC 8410 section 7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');
let keys = 0;

/**
 * Returns the next key. No two keys are equal, and every run uses the same keys, because random keys could have equal
 * key tags, which would change many results.
 */
function nextKey(): KeyObject {
  const key = octets(PKCS8_HEAD, hash('sha256', `key ${String(keys++)}`, 'buffer'));
  return createPrivateKey({ key: Buffer.from(key), format: 'der', type: 'pkcs8' });
}

/** A zone with one key. */
export class TestZone {
  readonly name: string;
  readonly dnskey: string;
  readonly ds: string;
  private readonly privateKey: KeyObject;
  private readonly tag: number;

  /** `of`: the zone whose key is reused; `flags` are the key's flags (RFC 4034 section 2.1.1). */
  constructor(name: string, { of, flags = 257 }: { of?: TestZone; flags?: number } = {}) {
    const privateKey = of === undefined ? nextKey() : of.privateKey;
    const publicKey = createPublicKey(privateKey);
    const octetsOfKey = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url');
    this.name = name;
    this.privateKey = privateKey;
    this.dnskey = `${name} 300 DNSKEY ${String(flags)} 3 15 ${octetsOfKey.toString('base64')}`;
    const { rdata } = readRecords(this.dnskey)[0]!;
    this.tag = Dnskey.read(rdata)!.tag;
    const digest = hash('sha256', octets(wireName(name), rdata), 'hex');
    this.ds = `${name} 300 DS ${String(this.tag)} 15 2 ${digest}`;
  }

  /** A copy of the zone whose key is revoked (RFC 5011 section 2.1). */
  revoked(): TestZone {
    return new TestZone(this.name, { of: this, flags: 257 | 0x80 });
  }

  /** The records with a signature for each RRset. `labels` turns the records into wildcard expansions. */
  signed(records: string, form: { expiration?: number; inception?: number; labels?: number } = {}): string {
    const { expiration = EXPIRATION, inception = INCEPTION } = form;
    const signatures = signedSets(records).map(({ owner, type, ttlSecs }) => {
      const name = nameToText(owner);
      const labels =
        form.labels ?? (name === '.' ? 0 : name.split('.').filter((label) => label !== '*').length);
      const times = `${String(ttlSecs)} ${String(expiration)} ${String(inception)}`;
      const head = `${name} ${String(ttlSecs)} RRSIG ${rrTypeName(type)} 15 ${String(labels)} ${times}`;
      const unsigned = `${head} ${String(this.tag)} ${this.name}`;
      const set = signedSets(`${records}\n${unsigned} AAAA`).find(
        (it) => it.type === type && nameToText(it.owner) === name,
      )!;
      return `${unsigned} ${sign(null, signedData(set, set.signatures[0]!), this.privateKey).toString('base64')}`;
    });
    return [records, ...signatures].join('\n');
  }
}

/** Answers from a table and records the questions; a question that is not in the table fails. */
export class TableResolver implements QuestionResolver {
  readonly asked: Question[] = [];
  private readonly answers = new Map<string, (CacheableAnswer | null)[]>();

  /** Sets the answers to a question, one for each call; the last answer repeats. null = no answer. */
  on(name: string, type: string, ...answers: (CacheableAnswer | null)[]): this {
    this.answers.set(`${name} ${type}`, answers);
    return this;
  }

  /** Returns the questions so far as text and clears the list. */
  takeAsked(): string[] {
    return this.asked.splice(0).map(keyOf);
  }

  resolve(question: Question, done: (resolution: Resolution) => void): void {
    this.asked.push(question);
    const answers = this.answers.get(keyOf(question)) ?? [null];
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? null;
    queueMicrotask(() => {
      if (answer !== null) done({ kind: 'answer', answer, upstream: 0 });
      else done({ kind: 'failed', reason: 'network', rcode: Rcode.SERVFAIL, upstream: 0 });
    });
  }
}

function keyOf({ qname, qtype }: Question): string {
  return `${nameToText(qname)} ${rrTypeName(qtype)}`;
}

/** An answer with these records. */
export function positive(records: string, authority = ''): CacheableAnswer {
  return textAnswer(records, authority, { negative: false });
}

/** A negative answer: NXDOMAIN or NODATA. */
export function negative(rcode: number, authority: string, records = ''): CacheableAnswer {
  return textAnswer(records, authority, { rcode, negative: true });
}
