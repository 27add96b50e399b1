/** What is filtered, as a file. The server writes it while the browser saves it; nothing is held in between. */
import { Download } from 'lucide-react';
import { memo } from 'react';
import type { ReactNode } from 'react';
import { download } from '../../api/download.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Menu } from '../../ui/overlays/menu.tsx';

const FORMATS = ['csv', 'ndjson', 'parquet'] as const;

/** The formats. */
export const ExportMenu = memo(function ExportMenu({
  filters,
}: {
  readonly filters: Readonly<Record<string, string>>;
}): ReactNode {
  const { say } = useText();
  return (
    <Menu
      label={say('queries.export')}
      button={<Button icon={Download}>{say('queries.export')}</Button>}
      actions={FORMATS.map((format) => ({
        id: format,
        text: say(`queries.export.${format}`),
        run: () => download('/queries/export', { ...filters, format }, `queries.${format}`),
      }))}
    />
  );
});
