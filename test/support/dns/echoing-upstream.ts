/** An in-process upstream that has an address for every name, so every name resolves. */
import { RRClass, RRType } from '../../../shared/dns/iana.ts';
import { octets, u16, u32 } from './built-messages.ts';
import { ScriptedUpstream } from './scripted-upstream.ts';

/** The A record of every name. */
export const EVERY_ADDRESS = '192.0.2.77';

const TTL_SECS = 3600;
const QNAME_POINTER = 0xc00c;

/** Starts the upstream: it answers A with EVERY_ADDRESS and every other type with NODATA. */
export async function startEchoingUpstream(): Promise<ScriptedUpstream> {
  const upstream = await ScriptedUpstream.start();
  upstream.udpScript = (query) => query.reply(answerTo(query.bytes));
  upstream.tcpScript = upstream.udpScript;
  return upstream;
}

/** The response to a query with one question. */
export function answerTo(query: Uint8Array): Uint8Array {
  let end = 12;
  while (query[end] !== 0) end += query[end]! + 1;
  end += 5;
  const isA = query[end - 4] === 0 && query[end - 3] === RRType.A;
  const answer = [
    ...u16(QNAME_POINTER),
    ...u16(RRType.A),
    ...u16(RRClass.IN),
    ...u32(TTL_SECS),
    ...u16(4),
    ...EVERY_ADDRESS.split('.').map(Number),
  ];
  return octets(
    query.slice(0, 2),
    [0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0],
    query.slice(12, end),
    isA ? answer : [],
  );
}

/** Starts an upstream that gives the same answers after a delay. */
export async function startSlowUpstream(delayMs: number): Promise<ScriptedUpstream> {
  const upstream = await ScriptedUpstream.start();
  upstream.udpScript = (query) => {
    // The test may have ended before the reply is due.
    setTimeout(() => {
      if (!upstream.isClosed) query.reply(answerTo(query.bytes));
    }, delayMs).unref();
  };
  return upstream;
}
