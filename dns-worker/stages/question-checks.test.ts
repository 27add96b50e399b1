import { describe, expect, test } from '@jest/globals';
import { ExtendedError, RRClass, RRType, Rcode } from '../../shared/dns/iana.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { NodeState, WorkerControl } from '../../shared/threads/messages.ts';
import type { QueryOptions } from '../../test/support/dns/dns-message.ts';
import { replyIn, slotQuery } from '../../test/support/parts/slot-query.ts';
import { openLists } from '../../test/support/parts/test-lists.ts';
import { NO_IDENTITY, ServerIdentity } from '../policy/server-identity.ts';
import { type Query, StageResult } from '../query/query.ts';
import { questionChecksStage } from './question-checks.ts';

const SNAPSHOT = openLists([]);
const CHAOS = 3;
/** The client is 192.0.2.1, see `slotQuery`. */
const IDENTITY = new ServerIdentity(NO_IDENTITY);

function checked(type: number, options: QueryOptions = {}): [number, Query] {
  const slot = slotQuery(SNAPSHOT, 'www.example.org', type, { edns: {}, ...options });
  return [questionChecksStage(slot, IDENTITY), slot];
}

describe('questionChecksStage, the check of EDNS version, class and type,', () => {
  test.each([
    ['EDNS version 1', RRType.A, { edns: { version: 1 } }, Rcode.BADVERS, []],
    ['class CH', RRType.TXT, { qclass: CHAOS }, Rcode.REFUSED, [ExtendedError.NOT_SUPPORTED]],
    ['type OPT', RRType.OPT, {}, Rcode.FORMERR, []],
    ['type AXFR', RRType.AXFR, {}, Rcode.REFUSED, [ExtendedError.NOT_SUPPORTED]],
    ['type IXFR', RRType.IXFR, {}, Rcode.REFUSED, [ExtendedError.NOT_SUPPORTED]],
    ['type TSIG', RRType.TSIG, {}, Rcode.NOTIMP, []],
    ['type TKEY', RRType.TKEY, {}, Rcode.NOTIMP, []],
  ])('rejects %s', (_what, type, options, rcode, errors) => {
    const [result, slot] = checked(type, options);
    expect(result).toBe(StageResult.ANSWERED);
    expect(slot).toMatchObject({ status: QueryStatus.REFUSED, rcode });
    expect(replyIn(slot).opt?.extendedRcode).toBe(rcode);
    expect(replyIn(slot).extendedErrors).toEqual(errors);
  });

  test('answers version.bind to clients that are allowed to query (RFC 4892)', () => {
    const identity = new ServerIdentity({ ...NO_IDENTITY, chaosClients: ['192.0.2.0/24'], version: '1.2' });
    const slot = slotQuery(SNAPSHOT, 'version.bind', RRType.TXT, { edns: {}, qclass: CHAOS });
    expect([questionChecksStage(slot, identity), slot.status]).toEqual([
      StageResult.ANSWERED,
      QueryStatus.LOCAL,
    ]);
    const [record] = replyIn(slot).message.answers!;
    expect(record).toMatchObject({ class: 'CH', type: 'TXT', ttl: 0, data: [Buffer.from('Weir 1.2')] });
  });

  test.each([
    ['another machine', '192.0.2.1', NodeState.HOLDING, StageResult.ANSWERED],
    ['another machine', '2001:db8::1', NodeState.HOLDING, StageResult.ANSWERED],
    ['its own machine', '127.0.0.1', NodeState.HOLDING, StageResult.CONTINUE],
    ['its own machine', '::1', NodeState.HOLDING, StageResult.CONTINUE],
    ['another machine', '192.0.2.1', NodeState.STARTING, StageResult.CONTINUE],
  ])('for %s (%s) in node state %i returns %i', (_who, client, state, wanted) => {
    const control = new Int32Array(64);
    control[WorkerControl.NODE_STATE_WORD] = state;
    const identity = new ServerIdentity(NO_IDENTITY, control);
    const slot = slotQuery(SNAPSHOT, 'www.example.org', RRType.A, { edns: {} });
    slot.clientBytes = addressFromText(client)!;
    expect(questionChecksStage(slot, identity)).toBe(wanted);
    if (wanted !== StageResult.ANSWERED) return;
    expect(slot).toMatchObject({ status: QueryStatus.SERVFAIL, rcode: Rcode.SERVFAIL });
    expect(replyIn(slot).extendedErrors).toEqual([ExtendedError.NOT_READY]);
  });

  test.each([RRType.A, RRType.ANY, RRType.HTTPS, 65_280])('accepts query type %i', (type) => {
    const [result, slot] = checked(type, { qclass: RRClass.IN });
    expect([result, slot.status, slot.replyLength]).toEqual([StageResult.CONTINUE, 0, 0]);
  });
});
