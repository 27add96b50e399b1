/** Texts of filter conditions. */
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';
import { ANY_BLOCKED, DNSSEC_STATUS_NAMES, QUERY_STATUS_NAMES } from '../../../../../../shared/query-log.ts';
import type { Say } from '../../../i18n/say.ts';
import type { ConditionName } from './log-filters.ts';

/** A group with its name. */
export type Groups = readonly Pick<AnswerOf<'GET /groups'>[number], 'id' | 'name'>[];

/** Identifiers of a device. */
type Device = Pick<AnswerOf<'GET /clients/{id}'>, 'id' | 'name' | 'hostname' | 'ip_address' | 'mac_address'>;

/** Name of a device in a condition. */
export function deviceText({ id, name, hostname, ip_address: ip, mac_address: mac }: Device): string {
  return name ?? hostname ?? ip ?? mac ?? String(id);
}

/** Text for a value that is a code; any other value unchanged; for devices, use `deviceText`. */
export function valueText(name: ConditionName, value: string, groups: Groups, say: Say): string {
  if (name === 'group_id') return groups.find(({ id }) => String(id) === value)?.name ?? value;
  if (name === 'status') {
    if (value === ANY_BLOCKED) return say('queries.status.BLOCKED');
    const status = QUERY_STATUS_NAMES.find((known) => known === value);
    return status === undefined ? value : say(`queries.status.${status}`);
  }
  if (name === 'dnssec') {
    const state = DNSSEC_STATUS_NAMES.find((known) => known === value);
    return state === undefined ? value : say(`queries.dnssec.${state}`);
  }
  return name === 'protocol' ? value.toUpperCase() : value;
}
