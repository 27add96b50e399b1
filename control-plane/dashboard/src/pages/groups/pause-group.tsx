/**
 * Pauses and resumes the internet for all devices of a group, with a grant that blocks every name and does not expire.
 */
import { CirclePause, CirclePlay } from 'lucide-react';
import type { ReactNode } from 'react';
import { ForAdmins } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Badge } from '../../ui/display/values.tsx';

const REFRESH_MS = 30_000;

interface PauseGroupProps {
  readonly group: { readonly id: number; readonly name: string };
}

/** Ids of the grants that block everything for a group. */
function usePauses(groupId: number): readonly number[] {
  const { data = [] } = useAsk('GET /grants', {}, { everyMs: REFRESH_MS });
  return data
    .filter(
      ({ group_id: id, client_id: client, action, domain, service_id: service }) =>
        id === groupId && client === null && action === 'block' && domain === null && service === null,
    )
    .map(({ id }) => id);
}

/** Badge while the group is paused. */
export function PausedBadge({ groupId }: { readonly groupId: number }): ReactNode {
  const { say } = useText();
  if (usePauses(groupId).length === 0) return null;
  return (
    <Badge tone="blocked" icon={CirclePause}>
      {say('pause.paused')}
    </Badge>
  );
}

export function PauseGroup({ group: { id, name } }: PauseGroupProps): ReactNode {
  const { say } = useText();
  const pauses = usePauses(id);
  const pause = useChange('POST /grants', { done: 'pause.done' });
  const resume = useChange('DELETE /grants/{id}', { done: 'pause.resumed' });
  async function end(): Promise<void> {
    for (const grant of pauses) await resume.run({ params: { id: grant } });
  }
  return (
    <ForAdmins>
      {pauses.length === 0 ? (
        <Button
          icon={CirclePause}
          isPending={pause.isPending}
          aria-label={say('pause.pauseOf', { name })}
          onPress={() => void pause.run({ body: { group_id: id, action: 'block' } })}
        >
          {say('pause.pause')}
        </Button>
      ) : (
        <Button
          kind="main"
          icon={CirclePlay}
          isPending={resume.isPending}
          aria-label={say('pause.resumeOf', { name })}
          onPress={() => void end()}
        >
          {say('pause.resume')}
        </Button>
      )}
    </ForAdmins>
  );
}
