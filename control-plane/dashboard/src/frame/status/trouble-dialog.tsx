/** Dialog with all current problems; can be opened on any page. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import type { Trouble } from '../../ui/troubles/troubles.ts';
import { TroubleList } from '../../ui/troubles/trouble-list.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';

interface TroubleDialogProps {
  readonly troubles: readonly Trouble[];
  readonly onClose: () => void;
}

export default function TroubleDialog({ troubles, onClose }: TroubleDialogProps): ReactNode {
  const { say } = useText();
  return (
    <Dialog title={say('trouble.title')} isOpen onClose={onClose}>
      <Stack>
        {troubles.length === 0 ? (
          <p>{say('health.good')}</p>
        ) : (
          <TroubleList troubles={troubles} onFollow={onClose} />
        )}
      </Stack>
    </Dialog>
  );
}
