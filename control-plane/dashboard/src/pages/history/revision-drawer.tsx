/** One change of policy: who made it from where, what it did, and the way back. */
import { Undo2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { ForAdmins } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Answered, Callout } from '../../ui/display/states.tsx';
import { Facts, Moment } from '../../ui/display/values.tsx';
import { Drawer } from '../../ui/overlays/dialog.tsx';
import { ChangedRows } from './changed-rows.tsx';
import { rowOf } from './row-changes.ts';

interface RevisionDrawerProps {
  /** As it stands in the address; empty = closed. */
  readonly revision: string;
  readonly onClose: () => void;
  readonly onUndo: (id: number) => void;
}

/** The drawer. */
export function RevisionDrawer({ revision, onClose, onUndo }: RevisionDrawerProps): ReactNode {
  const { say } = useText();
  const isOpen = /^\d{1,9}$/.test(revision);
  const detail = useAsk('GET /revisions/{id}', { params: { id: revision } }, { enabled: isOpen });
  // The answer before stays while another one comes: it is about another revision.
  const shown = detail.isPlaceholderData ? { ...detail, data: undefined } : detail;
  return (
    <Drawer
      title={say('history.revisionTitle', { id: revision })}
      isOpen={isOpen}
      onClose={onClose}
      actions={
        <ForAdmins>
          <Button icon={Undo2} onPress={() => onUndo(Number(revision))}>
            {say('history.undo')}
          </Button>
        </ForAdmins>
      }
    >
      <Answered of={shown} lines={6}>
        {({ summary, author, address, created_at: at, changes, left_out: leftOut }) => (
          <>
            <Facts
              facts={[
                [say('field.change'), <bdi key="summary">{summary}</bdi>],
                [say('field.who'), <bdi key="author">{author}</bdi>],
                [say('history.address'), <bdi key="address">{address ?? say('history.address.none')}</bdi>],
                [say('history.at'), <Moment key="at" at={at} />],
              ]}
            />
            {changes === null ? (
              <Callout tone="info">{say('history.forgotten')}</Callout>
            ) : (
              <ChangedRows
                leftOut={leftOut}
                changes={changes.map(({ table, key, before, after }) => ({
                  table,
                  key,
                  before: rowOf(before),
                  after: rowOf(after),
                }))}
              />
            )}
          </>
        )}
      </Answered>
    </Drawer>
  );
}
