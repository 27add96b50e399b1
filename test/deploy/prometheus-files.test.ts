/**
 * The files of deploy/prometheus, checked by promtool, including when alerts fire.
 *
 * @needs prometheus
 */
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';

describe('deploy/prometheus', () => {
  test.each([
    ['check', 'config', 'prometheus.yml'],
    ['check', 'rules', '--lint-fatal', 'weir-alerts.yml'],
    ['test', 'rules', 'weir-alerts.test.yml'],
  ])('passes promtool %s %s', (...args) => {
    const cwd = new URL('../../deploy/prometheus/', import.meta.url);
    const { status, stdout, stderr } = spawnSync('promtool', args, { cwd, encoding: 'utf8' });
    expect([stdout + stderr, status]).toEqual([expect.stringContaining('SUCCESS'), 0]);
  });
});
