import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandFor } from './dns-port-help.ts';
import { holderOfPort, UNKNOWN_HOLDER } from './port-holder.ts';

test('holderOfPort() finds this process by its socket, and is null for a free port', async () => {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  expect(holderOfPort(port)?.pid).toBe(process.pid);
  socket.close();
  await once(socket, 'close');
  expect(holderOfPort(port)).toBeNull();
});

describe('holderOfPort() for a socket of another user', () => {
  const UID = process.getuid!();
  let proc = '';
  beforeEach(() => {
    proc = mkdtempSync(join(tmpdir(), 'weir-proc-'));
    mkdirSync(join(proc, 'net'));
    const head =
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
    const row = `  1: 3500007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000 ${UID} 0 4711 2 0 0`;
    writeFileSync(join(proc, 'net/udp'), `${head}\n${row}\n`);
    // The tables contain a connection to port 53 of another machine, and an established connection at local port 53.
    const tcp = `  0: 0100007F:0035 0100007F:9C40 01 0:0 0:0 0 ${UID} 0 4712 1`;
    writeFileSync(join(proc, 'net/tcp'), `${head}\n${tcp}\n`);
  });
  afterEach(() => rmSync(proc, { recursive: true }));

  function run(pid: number, name: string): string {
    mkdirSync(join(proc, String(pid), 'fd'), { recursive: true });
    writeFileSync(join(proc, String(pid), 'comm'), `${name}\n`);
    return join(proc, String(pid), 'fd');
  }

  test('returns the only DNS server among the processes of the user who owns the socket', () => {
    run(100, 'bash');
    run(200, 'systemd-resolve');
    expect(holderOfPort(53, proc)).toEqual({ program: 'systemd-resolve', pid: 200, unit: null });
    run(300, 'dnsmasq');
    expect(holderOfPort(53, proc)).toEqual(UNKNOWN_HOLDER);
  });

  test('prefers the process that has a descriptor of the socket', () => {
    run(200, 'dnsmasq');
    symlinkSync('socket:[4711]', join(run(300, 'my-server'), '7'));
    writeFileSync(join(proc, '300/cgroup'), '0::/system.slice/my-server@1.service\n');
    expect(holderOfPort(53, proc)).toEqual({ program: 'my-server', pid: 300, unit: 'my-server@1.service' });
  });

  test('is null if no process listens', () => {
    writeFileSync(join(proc, 'net/udp'), '');
    expect(holderOfPort(53, proc)).toBeNull();
  });
});

test.each([
  ['taken', 'systemd-resolve', null, /DNSStubListener=no.*resolv\.conf.*systemctl restart systemd-resolved$/],
  ['taken', 'named', 'named.service', /^sudo systemctl disable --now named\.service$/],
  ['taken', 'connmand', 'connman.service', /^sudo systemctl disable --now connman\.service$/],
  ['not_permitted', null, null, /ip_unprivileged_port_start=53/],
] as const)('commandFor() with port 53 %s by %s returns one line', (state, program, unit, pattern) => {
  const command = commandFor(state, program === null ? null : { program, pid: 1, unit }, false);
  expect(command).toMatch(pattern);
  expect(command).not.toContain('\n');
});

test('commandFor() grants the permission and frees the port in one line, and restarts a service', () => {
  const dnsmasq = { program: 'dnsmasq', pid: 5, unit: 'dnsmasq.service' };
  expect(commandFor('not_permitted', dnsmasq, false)).toMatch(
    /ip_unprivileged_port_start=53.* && sudo systemctl disable --now dnsmasq\.service$/,
  );
  expect(commandFor('taken', dnsmasq, true)).toMatch(/ dnsmasq\.service && sudo systemctl restart weir$/);
  expect(commandFor('free', null, true)).toBe('sudo systemctl restart weir');
});

test('commandFor() returns null for a free port, and for a program that Weir cannot stop', () => {
  expect(commandFor('free', null, false)).toBeNull();
  for (const isService of [false, true]) {
    for (const unit of ['libvirtd.service', 'snap.lxd.daemon.service', null])
      expect(commandFor('taken', { program: 'dnsmasq', pid: 5, unit }, isService)).toBeNull();
    const strange = { program: 'my-server; rm -rf /', pid: 5, unit: 'my-server.service' };
    expect(commandFor('taken', strange, isService)).toBeNull();
    expect(commandFor('taken', UNKNOWN_HOLDER, isService)).toBeNull();
  }
});
