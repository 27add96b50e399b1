/** HTTP routes of `{api}/import`. An import is in the database and active when the response is sent. */
import { ImportQuery, ImportReport } from '../../../shared/api/imports-api.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { saveUpload } from '../../api/upload.ts';
import type { SettingsImport } from './import-settings.ts';

/** Maximum file size: a database of Pi-hole with a million names. */
const LIMIT_BYTES = 128 * 1024 * 1024;

/** The route of imports. */
export function importRoutes({ settingsImport }: { settingsImport: Pick<SettingsImport, 'run'> }): Route[] {
  const importSettings = route({
    method: 'POST',
    path: '/import',
    access: 'admin',
    tag: 'Moving',
    summary:
      'Import the settings of another program from a file that it exported, which is the raw request ' +
      'body; creates one revision',
    query: ImportQuery,
    uploadLimitBytes: LIMIT_BYTES,
    answer: ImportReport,
    handle: (request) => {
      const { format, dry_run: isDryRun, settings, answers } = request.query;
      const save = (path: string): Promise<void> => saveUpload(request.http, path, LIMIT_BYTES);
      return settingsImport.run({ save, format, isDryRun, settings, answers, author: authorOf(request) });
    },
  });
  return [importSettings];
}
