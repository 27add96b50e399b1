import { beforeEach, describe, expect, test } from '@jest/globals';
import { addressFromText } from '../../shared/net/ip.ts';
import { networkFromText } from '../../shared/net/cidr.ts';
import { accessOf } from '../../shared/policy/access.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { openSnapshot } from '../policy/open-snapshot.ts';
import { StreamAccess } from './stream-access.ts';

const KEY = 'k3v9x2q7w4m1zp8';
const STRANGER = '203.0.113.9';
const BLOCKED = '192.0.2.66';
const PROXY = '198.51.100.7';

let snapshot: ReturnType<typeof openSnapshot>;
let version: number;
let access: StreamAccess;
beforeEach(() => {
  version = 0;
  access = new StreamAccess(() => snapshot, [networkFromText(PROXY)!]);
  use([]);
});

/** Activates a snapshot with clients of these keys. */
function use(keys: readonly string[], allowed: readonly string[] = ['private', '192.0.2.0/24']): void {
  const keyedClients = keys.map((key, index) => ({
    ...{ key, clientId: index + 1, groupId: null, name: null, mac: null },
  }));
  const may = accessOf(allowed, [BLOCKED], []);
  snapshot = openSnapshot(snapshotOf([], { keyedClients }, ++version, { access: may }));
}

const mayConnect = (address: string, mayHaveKey = true): boolean =>
  access.mayConnect(addressFromText(address)!, mayHaveKey);
const mayHandshake = (address: string, key = ''): boolean =>
  access.mayHandshake(addressFromText(address)!, key);

describe('StreamAccess, which admits clients over TCP and TLS,', () => {
  test.each(['192.0.2.1', '::ffff:192.0.2.1', '127.0.0.1', 'fe80::1%eth0', '::ffff:10.0.0.1', PROXY])(
    'admits %s',
    (address) => expect([mayConnect(address, false), mayHandshake(address)]).toEqual([true, true]),
  );

  test.each([STRANGER, `::ffff:${STRANGER}`, BLOCKED, `::ffff:${BLOCKED}`, '2001:db8::1', '::192.0.2.1'])(
    'rejects %s',
    (address) => expect([mayConnect(address), mayHandshake(address)]).toEqual([false, false]),
  );

  test('accepts TLS connections from unknown addresses while any allowed client has a long key', () => {
    use(['phone']);
    expect(mayConnect(STRANGER)).toBe(false);
    use(['phone', KEY]);
    expect([mayConnect(STRANGER), mayConnect(STRANGER, false), mayConnect(BLOCKED)]).toEqual([
      true,
      false,
      false,
    ]);
    expect([mayHandshake(STRANGER, KEY), mayHandshake(STRANGER, 'phone'), mayHandshake(STRANGER)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(mayHandshake(BLOCKED, KEY)).toBe(false);
    use([]);
    expect([mayConnect(STRANGER), mayHandshake(STRANGER, KEY)]).toEqual([false, false]);
  });

  test('follows each change of the allowed clients', () => {
    use([], ['any']);
    expect(mayConnect(STRANGER, false)).toBe(true);
    use([], ['private']);
    expect([mayConnect(STRANGER, false), mayConnect('192.0.2.1', false)]).toEqual([false, false]);
  });
});
