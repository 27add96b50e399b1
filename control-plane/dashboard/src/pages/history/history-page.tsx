/** History: policy changes with their effects and an Undo button for each, and the audit log. */
import type { ReactNode } from 'react';
import { ForAdmins, useMe } from '../../api/session.tsx';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { Segments } from '../../ui/controls/segments.tsx';
import { Page } from '../../ui/display/page.tsx';
import { AuditLog } from './audit-log.tsx';
import { RevisionList } from './revision-list.tsx';
import { UndoDialog } from './undo-dialog.tsx';

const DEFAULTS = { view: 'changes', undo: '', to: '' };
const VIEWS = ['changes', 'audit'] as const;

export default function HistoryPage(): ReactNode {
  const { say } = useText();
  const [{ view: wanted, undo, to }, setFields] = useUrlState(DEFAULTS);
  const { isAdmin } = useMe();
  const view = isAdmin && wanted === 'audit' ? 'audit' : 'changes';
  return (
    <Page
      title={say('page.history')}
      lead={say(view === 'audit' ? 'history.audit.lead' : 'history.lead')}
      actions={
        <ForAdmins>
          <Segments
            label={say('field.view')}
            value={view}
            choices={VIEWS.map((id) => ({ id, text: say(`history.view.${id}`) }))}
            onChange={(chosen) => setFields({ view: chosen })}
          />
        </ForAdmins>
      }
    >
      {view === 'audit' ? (
        <AuditLog />
      ) : (
        <RevisionList
          onUndo={(id) => setFields({ undo: String(id) })}
          onGoTo={(id) => setFields({ to: String(id) })}
        />
      )}
      <UndoDialog undo={undo} to={to} onClose={() => setFields({ undo: '', to: '' }, { replace: true })} />
    </Page>
  );
}
