/** Saves one key of the configuration, unless another user has changed the key since the edit began. */
import type { CallOf } from '../../../../../../shared/api/client/typed-client.ts';
import { send } from '../../../api/ask.ts';
import { changeOf, textOfValue, valueOf } from './config-key.ts';

/** The text of the value at the start of the edit, and the new value; null = reset to the default. */
interface Edit {
  readonly from: string;
  readonly next: unknown;
}

/** Sends the change; if it fails, reports the failure to the user and returns false. */
type Run = (call: CallOf<'PATCH /config'>) => Promise<boolean>;

/** Returns the outcome, or the text of a value that another user saved during the edit and that is therefore kept. */
export async function saveKey(
  key: string,
  { from, next }: Edit,
  run: Run,
): Promise<'saved' | 'failed' | { readonly text: string }> {
  const now = await send('GET /config', {}).catch(() => null);
  const text = now === null ? from : textOfValue(valueOf(now.answer, key));
  if (text !== from) return { text };
  // With the ETag, the server also refuses the change if any key changes between the two requests.
  const etag = now?.headers.get('ETag') ?? null;
  const headers = etag === null ? {} : { headers: { 'If-Match': etag } };
  return (await run({ query: {}, body: changeOf(key, next), ...headers })) ? 'saved' : 'failed';
}
