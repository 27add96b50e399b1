/**
 * Presentation form of the RDATA of types that are rare in answers (RFC 1035, 3403, 4034, 4255, 6698 and 8659), decoded
 * by dns-packet. The common types are in `stored-answers.ts`.
 */
import { decodeRdata } from '../../../shared/dns/codec.ts';
import type { Answer } from '../../../shared/dns/codec.ts';

/** A word of characters without a special meaning in a zone file, or a simple quoted string. */
const PLAIN = /^(?:[A-Za-z0-9_.*+/=:-]+|"[ !#-[\]-~]*")$/;

/** The presentation form of `rdata`; null if its type is not supported here, or if the text needs escapes. */
export function rdataText(type: number, rdata: Uint8Array): string | null {
  const record = decodeRdata(type, rdata);
  const words = (record === null ? [] : wordsOf(record)).map(String);
  return words.length > 0 && words.every((word) => PLAIN.test(word)) ? words.join(' ') : null;
}

function wordsOf(record: Answer): (string | number | undefined)[] {
  switch (record.type) {
    case 'DNAME':
      return [record.data];
    case 'SOA': {
      const { mname, rname, serial, refresh, retry, expire, minimum } = record.data;
      return [mname, rname, serial, refresh, retry, expire, minimum];
    }
    case 'CAA':
      return [record.data.flags, record.data.tag, quoted(record.data.value)];
    case 'NAPTR': {
      const { order, preference, flags, services, regexp, replacement } = record.data;
      return [order, preference, quoted(flags), quoted(services), quoted(regexp), replacement];
    }
    case 'DS': {
      const { keyTag, algorithm, digestType, digest } = record.data;
      return [keyTag, algorithm, digestType, digest.toString('hex')];
    }
    case 'DNSKEY': {
      const { flags, algorithm, key } = record.data;
      return [flags, 3, algorithm, key.toString('base64')];
    }
    case 'SSHFP':
      return [record.data.algorithm, record.data.hash, record.data.fingerprint.toLowerCase()];
    case 'TLSA': {
      const { usage, selector, matchingType, certificate } = record.data;
      return [usage, selector, matchingType, certificate.toString('hex')];
    }
    default:
      return [];
  }
}

function quoted(text: string): string {
  return `"${text}"`;
}
