/** Shows in the reader's language why a list or an upstream server could not be reached. */
import { causeIn } from '../../../../shared/net/fault-cause.ts';
import { say } from '../i18n/say.ts';

/** Words for a `last_error`; its own text if no connection failed. */
export function lastErrorText(text: string): string {
  const cause = causeIn(text);
  return cause === null ? text : say(`cause.${cause}`);
}
