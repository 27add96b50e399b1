/** Dialog with the requests of devices to unblock a name, each with buttons to allow or dismiss it. */
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { ForAdmins } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { useVerdict } from '../../pages/queries/explain/use-verdict.ts';
import { VerdictActions } from '../../pages/queries/explain/verdict-actions.tsx';
import { isBlocked } from '../../pages/queries/log/status-look.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Bar, Stack } from '../../ui/display/page.tsx';
import { Answered } from '../../ui/display/states.tsx';
import { DomainName, Moment } from '../../ui/display/values.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { useGroups } from '../../ui/policy/groups.tsx';
import styles from './requests-dialog.module.css';

type UnblockRequest = AnswerOf<'GET /unblock-requests'>[number];

/** The dialog, which is shown while this component is mounted. */
export default function RequestsDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { say } = useText();
  const requests = useAsk('GET /unblock-requests', {});
  return (
    <Dialog title={say('requests.title')} isOpen onClose={onClose}>
      <Answered of={requests}>
        {(all) =>
          all.length === 0 ? (
            <p>{say('requests.none')}</p>
          ) : (
            <ul className={styles['requests']}>
              {all.map((request) => (
                <li key={request.id}>
                  <OpenRequest request={request} />
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Dialog>
  );
}

/** One request. A name that is no longer blocked can only be dismissed. */
function OpenRequest({ request }: { readonly request: UnblockRequest }): ReactNode {
  const { say } = useText();
  const { id, domain, client_id: clientId, client_name: name, group_id: groupId } = request;
  const groups = useGroups();
  const dismiss = useChange('DELETE /unblock-requests/{id}', { done: 'requests.dismissed' });
  const answered = useChange('DELETE /unblock-requests/{id}', { quiet: true });
  const verdicts = useVerdict(() => void answered.run({ params: { id } }));
  const { data: explained } = useAsk('GET /explain', { query: { domain, client_id: clientId } });
  const target = explained && { domain, client: null, clientId, groupId, status: explained.status };
  return (
    <Stack>
      <p>
        {say('requests.of', { name })}{' '}
        <strong>
          <DomainName name={domain} />
        </strong>{' '}
        <span className="quiet">
          <Moment at={request.created_at} />
        </span>
      </p>
      <ForAdmins>
        <Bar>
          {target !== undefined && isBlocked(target.status) && (
            <VerdictActions
              target={target}
              group={groups.find((group) => group.id === groupId)?.name ?? `${groupId}`}
              verdicts={verdicts}
            />
          )}
          {target !== undefined && !isBlocked(target.status) && <p>{say('requests.notBlocked')}</p>}
          <Button
            icon={X}
            isPending={dismiss.isPending}
            aria-label={say('requests.dismissOf', { name })}
            onPress={() => void dismiss.run({ params: { id } })}
          >
            {say('requests.dismiss')}
          </Button>
        </Bar>
      </ForAdmins>
    </Stack>
  );
}
