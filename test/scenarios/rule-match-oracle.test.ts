/**
 * The compiled engine compared with a naive engine: random rules are written as list lines and also evaluated in the
 * simplest way; both must have the same rule match for random names, types and clients.
 */
import { describe, expect, test } from '@jest/globals';
import { PolicyMatcher } from '../../dns-worker/policy/policy-matcher.ts';
import { NOT_BLOCKED, isAllowing, originOf } from '../../dns-worker/policy/rule-match-memo.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { type ListText, openLists, queryFor } from '../support/parts/test-lists.ts';

interface Question {
  readonly name: string;
  readonly qtype: number;
  readonly client: string;
}
type Matches = (question: Question) => boolean;
interface Rule {
  readonly text: string;
  readonly allow: boolean;
  readonly important: boolean;
  readonly matches: Matches;
}

const LABELS = ['a', 'ads', 'ad1', 'x', 'track', 'cdn', 'b-c', 'com', 'net', 'co'];
const CLIENTS = ['192.0.2.1', '192.0.2.200', '198.51.100.1', '2001:db8::5'];

/** A random number generator that is repeatable for a seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed | 0;
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    state ^= state >>> 12;
    return (state >>> 0) % below;
  };
}
type Random = ReturnType<typeof randomFrom>;

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random(from.length)]!;
}

function nameOf(random: Random, min = 1): string {
  return Array.from({ length: min + random(3) }, () => pick(random, LABELS)).join('.');
}

const isBelow = (name: string, parent: string): boolean => name.endsWith(`.${parent}`);
const covers = (name: string, parent: string): boolean => name === parent || isBelow(name, parent);

/** Part of a rule before the modifiers, and the names that it matches. */
function place(random: Random): { text: string; matches: Matches } {
  const name = nameOf(random, 2);
  const part = pick(random, ['ads', 'rac', 'x.co', 'd1.', 'b-c']);
  const other = pick(random, LABELS);
  switch (random(8)) {
    case 0:
      return { text: `|${name}^`, matches: (question) => question.name === name };
    case 1:
      return { text: `||*.${name}^`, matches: (question) => isBelow(question.name, name) };
    case 2:
      return { text: `||${part}`, matches: ({ name: asked }) => `.${asked}`.includes(`.${part}`) };
    case 3:
      return {
        text: `||${part}*${other}^`,
        matches: ({ name: asked }) =>
          new RegExp(`(^|\\.)${part.replaceAll('.', '\\.')}.*${other}$`).test(asked),
      };
    case 4:
      return { text: `|${part}*`, matches: ({ name: asked }) => asked.startsWith(part) };
    case 5:
      return { text: `${part}^`, matches: ({ name: asked }) => asked.endsWith(part) };
    case 6: {
      const source = `^(${part.replaceAll('.', '\\.')}|${other}[0-9]?)[.-]`;
      return { text: `/${source}/`, matches: ({ name: asked }) => new RegExp(source).test(asked) };
    }
    default:
      return { text: `||${name}^`, matches: (question) => covers(question.name, name) };
  }
}

function adblockRule(random: Random): Rule {
  const { text, matches } = place(random);
  const options: string[] = [];
  const conditions: Matches[] = [matches];
  const allow = random(4) === 0;
  const important = random(5) === 0;
  if (important) options.push('important');
  if (random(5) === 0) {
    const except = random(2) === 0;
    options.push(`dnstype=${except ? '~' : ''}A`);
    conditions.push(({ qtype }) => (qtype === 1) !== except);
  }
  if (random(5) === 0) {
    const name = nameOf(random, 2);
    options.push(`denyallow=${name}`);
    conditions.push((question) => !covers(question.name, name));
  }
  if (random(8) === 0) {
    options.push('client=192.0.2.0/25');
    conditions.push(({ client }) => client === '192.0.2.1');
  }
  return {
    text: `${allow ? '@@' : ''}${text}${options.length === 0 ? '' : `$${options.join(',')}`}`,
    allow,
    important,
    matches: (question) => conditions.every((condition) => condition(question)),
  };
}

function anyRule(random: Random): Rule {
  const name = nameOf(random, 2);
  const exact: Matches = (question) => question.name === name;
  const suffix: Matches = (question) => covers(question.name, name);
  const block = { allow: false, important: false };
  switch (random(10)) {
    case 0:
      return { text: `0.0.0.0 ${name}`, matches: exact, ...block };
    case 1:
      return { text: name, matches: exact, ...block };
    case 2:
      return { text: `*.${name}`, matches: suffix, ...block };
    case 3:
      return { text: `address=/${name}/#`, matches: suffix, ...block };
    case 4:
      return { text: `*.${name} CNAME .`, matches: (question) => isBelow(question.name, name), ...block };
    case 5:
      return { text: `local-zone: "${name}." always_null`, matches: suffix, ...block };
    default:
      return adblockRule(random);
  }
}

interface Manual {
  readonly level: 'service' | 'allow' | 'deny' | 'regexAllow' | 'regexDeny';
  readonly matches: Matches;
}

type Outcome = 'service' | 'managed' | 'regex' | 'list' | 'allowed' | 'none';

/** The contract's order, implemented a second time. */
function naive(rules: readonly Rule[], manual: readonly Manual[], question: Question): Outcome {
  const hit = (level: Manual['level']): boolean =>
    manual.some((rule) => rule.level === level && rule.matches(question));
  if (hit('service')) return 'service';
  if (hit('allow')) return 'allowed';
  if (hit('deny')) return 'managed';
  if (hit('regexAllow')) return 'allowed';
  if (hit('regexDeny')) return 'regex';
  const met = rules.filter((rule) => rule.matches(question));
  for (const important of [true, false]) {
    const level = met.filter((rule) => rule.important === important);
    if (level.some((rule) => rule.allow)) return 'allowed';
    if (level.length > 0) return 'list';
  }
  return 'none';
}

function outcomeOf(match: number): Outcome {
  if (match === NOT_BLOCKED) return 'none';
  if (isAllowing(match)) return 'allowed';
  switch (originOf(match)) {
    case RuleOrigin.SERVICE:
      return 'service';
    case RuleOrigin.MANAGED:
      return 'managed';
    case RuleOrigin.REGEX:
      return 'regex';
    default:
      return 'list';
  }
}

function manualRules(random: Random): { manual: Manual[]; rows: Parameters<typeof openLists>[1] } {
  const domain = (action: 'allow' | 'deny', id: number) => {
    const row = { id, name: `m${id}`, domain: nameOf(random, 2), suffix: random(2) === 0, action };
    return { ...row, groupId: null };
  };
  const managedDomains = random(2) === 0 ? [] : [domain('allow', 1), domain('deny', 2)];
  const service = nameOf(random, 2);
  const hasService = random(3) === 0;
  const words = random(3) === 0 ? [pick(random, LABELS)] : [];
  const manual: Manual[] = managedDomains.map((row) => ({
    level: row.action,
    matches: ({ name }) => (row.suffix ? covers(name, row.domain) : name === row.domain),
  }));
  if (hasService) manual.push({ level: 'service', matches: ({ name }) => covers(name, service) });
  const action = random(2) === 0 ? ('allow' as const) : ('deny' as const);
  for (const word of words)
    manual.push({
      level: action === 'allow' ? 'regexAllow' : 'regexDeny',
      matches: ({ name }) => new RegExp(`(^|\\.)${word}\\.`).test(name),
    });
  const regexFilters = words.map((word) => {
    return { id: 1, name: 'r', pattern: `(^|\\.)${word}\\.`, action, groupId: null };
  });
  const serviceRow = { serviceId: 's', serviceName: 'S', groupId: 1, domains: [service], exact: [] };
  return { manual, rows: { managedDomains, regexFilters, blockedServices: hasService ? [serviceRow] : [] } };
}

describe('PolicyMatcher with random rules', () => {
  test.each(Array.from({ length: 60 }, (_, seed) => seed + 1))(
    'decides as a simple reference implementation, seed %i',
    (seed) => {
      const random = randomFrom(seed * 7919);
      const rules = Array.from({ length: 1 + random(25) }, () => anyRule(random));
      const bad = adblockRule(random);
      const groupIds = Array.from({ length: 4 }, () => pick(random, [[], [], [1], [2], [1, 2]]));
      const lists: ListText[] = [0, 1].map((list) => ({
        groupIds: groupIds[list]!,
        text: rules
          .filter((_, index) => index % 2 === list)
          .map(({ text }) => `${text}\n`)
          .join(''),
        reading: { kind: 'block', subdomains: false },
      }));
      // A rule and, in another list, a rule that disables it (badfilter).
      const reading = { kind: 'block', subdomains: false } as const;
      lists.push({ text: `${bad.text}\n`, reading, groupIds: groupIds[2]! });
      const option = bad.text.includes('$') && !bad.text.endsWith('$') ? ',badfilter' : '$badfilter';
      lists.push({ text: `${bad.text}${option}\n`, reading, groupIds: groupIds[3]! });
      const { manual, rows } = manualRules(random);
      const groups = [1, 2].map((id) => ({ id, enabled: true }));
      const snapshot = openLists(lists, { ...rows, groups });
      const serves = (list: number, group: number): boolean =>
        groupIds[list]!.length === 0 || groupIds[list]!.includes(group);
      /** The rules of a group's lists, without those that a list of the group disables. */
      const rulesOf = (group: number): Rule[] =>
        [...rules.filter((_, index) => serves(index % 2, group)), ...(serves(2, group) ? [bad] : [])].filter(
          ({ text }) => text !== bad.text || !serves(3, group),
        );
      const matcher = new PolicyMatcher();
      for (let round = 0; round < 400; round++) {
        const question: Question = {
          name: nameOf(random),
          qtype: pick(random, [1, 28, 16]),
          client: pick(random, CLIENTS),
        };
        const query = queryFor(question.name, snapshot, question.qtype);
        query.clientBytes = addressFromText(question.client)!;
        const group = pick(random, [1, 2]);
        const match = matcher.match(query, query, snapshot, snapshot.policy.groupClass(group - 1));
        const seen = { ...question, group, outcome: outcomeOf(match), lists, manual };
        const ofGroup = manual.filter(({ level }) => group === 1 || level !== 'service');
        expect(seen).toEqual({ ...seen, outcome: naive(rulesOf(group), ofGroup, question) });
      }
    },
  );
});
