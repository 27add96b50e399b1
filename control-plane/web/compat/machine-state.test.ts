import { expect, test } from '@jest/globals';
import { CompatPadd, CompatSystemInfo } from '../../../shared/api/compat/compat-node-api.ts';
import { hostModel, interfacesNow, processNow, systemNow, temperature } from './machine-state.ts';

test('systemNow() and processNow() return the values of the kernel', () => {
  const system = systemNow();
  expect(CompatSystemInfo.safeParse({ system, took: 0 }).error).toBeUndefined();
  const { ram } = system.memory;
  expect(ram.used + ram.available).toBe(ram.total);
  expect(system.ftl['%mem']).toBeGreaterThan(0);
  expect(system.procs).toBeGreaterThan(0);
  expect(Object.keys(processNow())).toEqual(['%mem', '%cpu']);
});

test('interfacesNow() returns all interfaces, with or without a default route', () => {
  expect(CompatPadd.shape.iface.safeParse(interfacesNow()).error).toBeUndefined();
});

test('temperature() and hostModel() are null on a machine that does not report them', () => {
  expect([null, expect.any(Number)]).toContainEqual(temperature());
  expect([null, expect.any(String)]).toContainEqual(hostModel());
});
