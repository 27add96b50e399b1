/**
 * The first start as an ordinary user, for whom the kernel refuses port 53.
 *
 * @needs ordinary-user closed-port-53
 */
import { chownSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { BlocklistSource } from '../../../shared/api/policy/sources-api.ts';
import type { Group } from '../../../shared/api/policy/groups-api.ts';
import { until } from '../../support/parts/until.ts';
import { ApiClient } from '../../support/weir/api-client.ts';
import { ADDRESS, expectAnswers, startBare } from '../../support/weir/bare-start.ts';
import { makeTempDir } from '../../support/weir/data-dir.ts';
import { ordinaryUser } from '../../support/weir/weir-process.ts';

const user = ordinaryUser();

describe('weir started by an ordinary user, without any configuration', () => {
  test('creates its files, answers on port 5300, and explains why port 53 is not allowed and how to change that', async () => {
    const tempDir = makeTempDir();
    if (user !== undefined) chownSync(tempDir.path, user.uid, user.gid);
    const { weir, webPort } = await startBare(tempDir.path, tempDir.dataDir, user);
    await using _ended = weir;
    await weir.untilOutput(/Next: +open http/);
    expect(weir.output).toContain(`DNS        ${ADDRESS} port 5300 (UDP and TCP)`);
    expect(weir.output).toContain('defaults (no configuration file found)');
    expect(weir.output).toMatch(
      /Devices cannot use Weir on port 5300: [^]*permission[^]*ip_unprivileged_port_start=53/,
    );
    await expectAnswers();
    await weir.untilOutput(/database is up/);
    await weir.untilOutput(/Setup code [0-9a-z-]{19}/);
    const setupCode = join(tempDir.dataDir, 'setup-code');
    expect(weir.output).toContain(readFileSync(setupCode, 'utf8').trim());
    const api = await ApiClient.signIn(webPort, ADDRESS);
    expect(existsSync(setupCode)).toBe(false);
    expect(await api.expect<Group[]>(200, 'GET', '/groups')).toMatchObject([
      { id: 1, name: 'Default', enabled: true },
    ]);
    const sources = await until(
      'the first list',
      () => api.expect<BlocklistSource[]>(200, 'GET', '/blocklist-sources'),
      ({ length }) => length > 0,
      { pauseMs: 50 },
    );
    expect(sources).toMatchObject([{ enabled: true, group_ids: [] }]);
    expect(await weir.end('SIGTERM')).toMatchObject({ code: 0 });
    tempDir.remove();
  });
});
