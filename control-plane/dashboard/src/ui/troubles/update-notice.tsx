/**
 * Notice for administrators about a newer version of Weir, with a link to its page. Shows nothing if no newer version
 * is known.
 */
import type { ReactNode } from 'react';
import { useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { Callout } from '../display/states.tsx';

/** Interval of requests; the server itself checks once a day. */
const EVERY_MS = 3_600_000;

/** The notice. */
export function UpdateNotice(): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const { data } = useAsk('GET /system/update', {}, { enabled: isAdmin, everyMs: EVERY_MS });
  const newer = data?.newer ?? null;
  if (!isAdmin || data === undefined || newer === null) return null;
  return (
    <Callout
      tone="info"
      actions={
        <a href={newer.url} className="button-link" target="_blank" rel="noopener noreferrer">
          {say('update.page', { host: new URL(newer.url).host })}
        </a>
      }
    >
      {say('update.newer', { version: newer.version, current: data.version })}
    </Callout>
  );
}
