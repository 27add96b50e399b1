import { describe, expect, test } from '@jest/globals';
import type { AddressScope } from './address-scope.ts';
import { scopeOfText } from './address-scope.ts';

describe('addressScope(), the scope of an IP address,', () => {
  test.each<[AddressScope, readonly string[]]>([
    ['public', ['1.1.1.1', '11.0.0.1', '172.32.0.1', '169.253.255.255', '100.128.0.1', '2606:4700::1']],
    ['public', ['::ffff:1.1.1.1', '64:ff9b::1.1.1.1', '2002:101:101::1', '64:ff9b:1::1.1.1.1']],
    ['local', ['127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1']],
    ['local', ['100.64.0.1', '100.127.255.255', '::1', 'fc00::1', 'fdff::1', 'fec0::1', '198.19.0.1']],
    ['local', ['::ffff:127.0.0.1', '::ffff:10.0.0.1', '64:ff9b::192.168.0.1', '64:ff9b:1::10.0.0.1']],
    ['local', ['::7f00:1', '2002:7f00:1::1', '2002:c0a8:101::']],
    ['forbidden', ['0.0.0.0', '0.1.2.3', '::', '169.254.169.254', '169.254.0.1', 'fe80::1', 'febf::1']],
    ['forbidden', ['fd00:ec2::254', '100.100.100.200', '168.63.129.16', '192.0.0.192']],
    ['forbidden', ['::ffff:169.254.169.254', '64:ff9b::169.254.169.254', '2002:a9fe:a9fe::1']],
    ['forbidden', ['::ffff:0.0.0.0', '64:ff9b::', '224.0.0.1', '255.255.255.255', 'ff02::1', '2001::1']],
    ['forbidden', ['', 'lists.example', '127.1', '0x7f.0.0.1', '2130706433']],
  ])('is %s for %j', (scope, addresses) => {
    for (const address of addresses) expect([address, scopeOfText(address)]).toEqual([address, scope]);
  });
});
