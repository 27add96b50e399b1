import { describe, expect, test } from '@jest/globals';
import type { Item } from '../../backup/backup-kind.ts';
import { oneDeviceEach } from './one-device.ts';

const MAC = '02:00:5e:10:00:01';
const MACS = new Map([['192.0.2.7', MAC]]);
const NOTHING = { macs: MACS, stored: [], answers: new Map<string, string>() };

const client = (fields: Item, ...origin: number[]) => ({
  item: { ip_address: null, mac_address: null, client_key: null, name: null, group: null, ...fields },
  origin,
});

describe('oneDeviceEach()', () => {
  test('identifies a device by its MAC if Weir knows it, and leaves other clients unchanged', () => {
    const planned = [
      client({ ip_address: '192.0.2.7', name: 'tv' }, 0),
      client({ ip_address: '192.0.2.8' }, 1),
    ];
    const { clients, questions, remarks } = oneDeviceEach(planned, NOTHING);
    expect(clients.map(({ item }) => [item['mac_address'], item['ip_address'], item['name']])).toEqual([
      [null, '192.0.2.8', null],
      [MAC, null, 'tv'],
    ]);
    expect(questions).toEqual([]);
    expect(remarks).toEqual([{ items: [0], text: expect.stringContaining(MAC) }]);
  });

  test('combines an entry for the MAC and an entry for the address of a device, with the exclusions of both', () => {
    const planned = [
      client({ mac_address: MAC, name: 'tv', exclude_from_log: true }, 0),
      client({ ip_address: '192.0.2.7', group: 'Kids', exclude_from_stats: true }, 1),
    ];
    const { clients, questions } = oneDeviceEach(planned, NOTHING);
    expect(clients).toEqual([
      {
        item: expect.objectContaining({
          ...{ mac_address: MAC, ip_address: null, name: 'tv', group: 'Kids' },
          ...{ exclude_from_log: true, exclude_from_stats: true },
        }),
        origin: [0, 1],
      },
    ]);
    expect(questions).toEqual([]);
  });

  test.each([
    [undefined, 'Kids'],
    ['address', 'Kids'],
    ['device', 'Adults'],
    ['other', 'Kids'],
  ])('asks for the group of a device that has two groups, and the answer %j gives %s', (answer, group) => {
    const id = 'device.02005e100001';
    const stored = [client({ mac_address: MAC, name: 'Tablet', group: 'Adults' }).item];
    const { clients, questions } = oneDeviceEach([client({ ip_address: '192.0.2.7', group: 'Kids' }, 0)], {
      macs: MACS,
      stored,
      answers: new Map(answer === undefined ? [] : [[id, answer]]),
    });
    expect(clients[0]!.item).toMatchObject({ mac_address: MAC, name: 'Tablet', group });
    expect(questions).toEqual([
      expect.objectContaining({
        ...{ id, kind: 'device_group', name: `Tablet, 192.0.2.7, ${MAC}` },
        choice: answer === 'device' ? 'device' : 'address',
      }),
    ]);
  });

  test.each([
    [undefined, 'Kids'],
    ['device', 'Adults'],
  ])(
    'asks one question about a device with two addresses, and applies the answer %j to both',
    (answer, group) => {
      const id = 'device.02005e100001';
      const { clients, questions } = oneDeviceEach(
        [
          client({ ip_address: '192.0.2.7', group: 'Kids' }, 0),
          client({ ip_address: '2001:db8::7', group: 'Guests' }, 1),
        ],
        {
          macs: new Map([...MACS, ['2001:db8::7', MAC]]),
          stored: [client({ mac_address: MAC, group: 'Adults' }).item],
          answers: new Map(answer === undefined ? [] : [[id, answer]]),
        },
      );
      expect(questions.map((question) => question.id)).toEqual([id]);
      expect(clients).toEqual([
        { item: expect.objectContaining({ mac_address: MAC, ip_address: null, group }), origin: [0, 1] },
      ]);
    },
  );

  test('asks no question if both groups have the same name, regardless of letter case', () => {
    const stored = [client({ mac_address: MAC, group: 'kids' }).item];
    const planned = [client({ ip_address: '192.0.2.7', group: 'Kids' }, 0)];
    expect(oneDeviceEach(planned, { ...NOTHING, stored }).questions).toEqual([]);
  });
});
