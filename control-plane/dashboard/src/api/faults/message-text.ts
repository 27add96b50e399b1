/** Messages of the server about failed upstreams and lists, in the user's language. */
import { causeIn } from '../../../../../shared/net/fault-cause.ts';
import { readListFault, withoutAction } from '../../../../../shared/policy/list-fault.ts';
import { say } from '../../i18n/say.ts';

/** Translates a message of the server; an unknown message is returned unchanged. */
export type TranslateMessage = (message: string) => string;

/** Translates a message of the server about a failed upstream or list. Unknown messages are returned unchanged. */
export function messageText(message: string): string {
  const cause = causeIn(message);
  if (cause !== null) return say(`cause.${cause}`);
  const read = readListFault(message);
  if (read === null) return withoutAction(message);
  return say(`lists.fault.${read.fault}`, { status: read.status });
}
