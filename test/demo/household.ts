/** The sample household and office: groups, devices with their topics, and how active they are at which times. */
import type { Random } from '../bench/material/random.ts';
import { SITES } from './sites.ts';
import type { Topic } from './sites.ts';

/** Groups in addition to Default. */
export const GROUPS = ['Adults', 'Children', 'Guests', 'Devices'] as const;
export type GroupName = (typeof GROUPS)[number];

/** Id of a group. */
export function groupIdOf(group: GroupName): number {
  return 2 + GROUPS.indexOf(group);
}

type Rhythm = 'person' | 'work' | 'evening' | 'always';

/** A device. */
export interface Device {
  readonly name: string;
  readonly address: string;
  readonly mac: string;
  /** Host name that the device reports. */
  readonly hostname: string;
  readonly group: GroupName;
  readonly rhythm: Rhythm;
  /** Share of the queries of an ordinary day, relative to other devices. */
  readonly weight: number;
  /** Topics of the device's queries; a topic that is listed twice is queried twice as often. */
  readonly topics: readonly Topic[];
  /** Whether the device uses TLS or HTTPS if possible. */
  readonly isEncrypted: boolean;
}

/** Activity in each hour of a day, from midnight on. */
const HOURS: Readonly<Record<Rhythm, readonly number[]>> = {
  person: [2, 1, 0.5, 0.5, 0.5, 1, 4, 8, 7, 5, 5, 6, 8, 6, 5, 6, 7, 9, 10, 11, 12, 11, 8, 4],
  work: [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1, 4, 10, 12, 12, 11, 6, 10, 12, 11, 9, 5, 2, 2, 2, 1, 1, 0.5],
  evening: [1, 0.3, 0.2, 0.2, 0.2, 0.2, 1, 2, 1, 1, 1, 1, 2, 2, 2, 4, 6, 8, 10, 12, 12, 11, 8, 3],
  always: [4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 4],
};
/** Activity on Saturdays and Sundays, relative to an ordinary day. */
const WEEKEND: Readonly<Record<Rhythm, number>> = { person: 1.2, work: 0.15, evening: 1.4, always: 1 };

const PHONE: readonly Topic[] = ['messages', 'messages', 'reading', 'video', 'chatter', 'trackers', 'upkeep'];
const LAPTOP: readonly Topic[] = [
  'reading',
  'reading',
  'work',
  'money',
  'video',
  'trackers',
  'trackers',
  'home',
  'broken',
];
const DESK: readonly Topic[] = ['work', 'work', 'work', 'reading', 'home', 'trackers', 'upkeep'];
const CHILD: readonly Topic[] = [
  'school',
  'games',
  'games',
  'video',
  'chatter',
  'prizes',
  'trackers',
  'trackers',
];

const DEVICES: readonly (readonly [string, GroupName, Rhythm, number, readonly Topic[]])[] = [
  ['Anna’s phone', 'Adults', 'person', 9, PHONE],
  ['Anna’s laptop', 'Adults', 'work', 10, LAPTOP],
  ['Ben’s phone', 'Adults', 'person', 8, [...PHONE, 'traps']],
  ['Ben’s laptop', 'Adults', 'person', 8, LAPTOP],
  ['Office PC 1', 'Adults', 'work', 9, DESK],
  ['Office PC 2', 'Adults', 'work', 7, DESK],
  ['Mia’s tablet', 'Children', 'evening', 6, CHILD],
  ['Tom’s phone', 'Children', 'evening', 7, [...CHILD, 'messages']],
  ['Game console', 'Children', 'evening', 4, ['games', 'games', 'video', 'upkeep', 'trackers']],
  ['Guest phone', 'Guests', 'evening', 3, PHONE],
  ['Visitor’s laptop', 'Guests', 'work', 2, LAPTOP],
  ['Living-room TV', 'Devices', 'evening', 7, ['video', 'television', 'television', 'trackers']],
  ['Printer', 'Devices', 'work', 1, ['printer', 'upkeep']],
  ['Thermostat', 'Devices', 'always', 2, ['thermostat', 'upkeep']],
  ['Doorbell', 'Devices', 'always', 2, ['upkeep', 'thermostat']],
  ['NAS', 'Devices', 'always', 2, ['upkeep', 'home', 'broken']],
];

/** All devices. */
export const HOUSEHOLD: readonly Device[] = DEVICES.map(([name, group, rhythm, weight, topics], place) => ({
  name,
  address: `192.0.2.${String(10 + place)}`,
  mac: `02:00:5e:10:00:${(16 + place).toString(16)}`,
  hostname: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'),
  group,
  rhythm,
  weight,
  topics,
  isEncrypted: name.endsWith('phone'),
}));

const ALL_WEIGHTS = HOUSEHOLD.reduce((sum, { weight }) => sum + weight, 0);
const SECS_PER_HOUR = 3600;

/**
 * Queries per second of a device at a time of the local day, if all devices together send `perDay` on an ordinary day.
 */
export function rateOf({ rhythm, weight }: Device, at: Date, perDay: number): number {
  const hours = HOURS[rhythm];
  const share = hours[at.getHours()]! / hours.reduce((sum, hour) => sum + hour, 0);
  const isWeekend = at.getDay() % 6 === 0;
  return (perDay * (weight / ALL_WEIGHTS) * share * (isWeekend ? WEEKEND[rhythm] : 1)) / SECS_PER_HOUR;
}

/** A question of a device. */
export interface AskedName {
  readonly name: string;
  readonly qtype: 'A' | 'AAAA' | 'HTTPS' | 'PTR';
}

/** Next question of a device; the first names in the list of a topic are the most frequent. */
export function drawQuestion({ topics }: Device, random: Random): AskedName {
  const sites = SITES[topics[Math.floor(random() * topics.length)]!];
  const name = sites[Math.floor(random() ** 1.6 * sites.length)]!;
  if (name.endsWith('.arpa') && /^\d/.test(name)) return { name, qtype: 'PTR' };
  const draw = random();
  return { name, qtype: draw < 0.58 ? 'A' : draw < 0.86 ? 'AAAA' : 'HTTPS' };
}
