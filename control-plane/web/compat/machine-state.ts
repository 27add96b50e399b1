/** Kernel data about this machine and process; only on Linux, zeros and nulls elsewhere. Stateless. */
import { cpus, loadavg, networkInterfaces, totalmem, uptime } from 'node:os';
import type { CompatInterfaces, CompatSystem } from '../../../shared/api/compat/compat-node-api.ts';
import { defaultRoute4, defaultRoute6 } from '../../host/default-gateway.ts';
import { linesOf, machineMemory, percentOf, readText } from '../../host/machine-memory.ts';

/** The machine and this process. */
export function systemNow(): CompatSystem {
  const memory = memoryNow();
  const nprocs = Math.max(1, cpus().length);
  const load = loadavg() as [number, number, number];
  const percents = load.map((value) => (100 * value) / nprocs) as [number, number, number];
  return {
    uptime: Math.floor(uptime()),
    memory,
    procs: Number(/\/(\d+) /.exec(readText('/proc/loadavg'))?.[1] ?? 0),
    cpu: { nprocs, '%cpu': busyPercent(), load: { raw: load, percent: percents } },
    ftl: processNow(),
  };
}

/** Shares of memory and of one core that this process has used since its start. */
export function processNow(): CompatSystem['ftl'] {
  const { user, system } = process.cpuUsage();
  const lifeUs = Math.max(1, process.uptime() * 1e6);
  return {
    '%mem': percentOf(process.memoryUsage.rss(), totalmem()),
    '%cpu': (100 * (user + system)) / lifeUs,
  };
}

/** Degrees Celsius of the first thermal zone; null without one. */
export function temperature(): number | null {
  const text = readText('/sys/class/thermal/thermal_zone0/temp').trim();
  return /^-?\d+$/.test(text) ? Number(text) / 1000 : null;
}

/** The model of a single-board computer; null for other machines. */
export function hostModel(): string | null {
  const text = readText('/sys/firmware/devicetree/base/model').replaceAll('\0', '').trim();
  return text === '' ? null : text;
}

/** The interfaces of the default routes. */
export function interfacesNow(): CompatInterfaces {
  const v4 = defaultRoute4();
  const v6 = defaultRoute6() ?? { name: v4.name, gateway: null };
  const [received, sent] = trafficOf(v4.name);
  return {
    v4: {
      ...addressesOf(v4.name, 'IPv4'),
      rx_bytes: inUnits(received),
      tx_bytes: inUnits(sent),
      name: v4.name,
      gw_addr: v4.gateway,
    },
    v6: { ...addressesOf(v6.name, 'IPv6'), name: v6.name, gw_addr: v6.gateway },
  };
}

function addressesOf(name: string, family: 'IPv4' | 'IPv6'): { addr: string | null; num_addrs: number } {
  const own = (networkInterfaces()[name] ?? []).filter((address) => address.family === family);
  return { addr: own[0]?.address ?? null, num_addrs: own.length };
}

function trafficOf(name: string): [received: number, sent: number] {
  const line = linesOf('/proc/net/dev').find(([first]) => first === `${name}:`) ?? [];
  return [Number(line[1] ?? 0), Number(line[9] ?? 0)];
}

const UNITS = ['B', 'K', 'M', 'G', 'T', 'P'] as const;

function inUnits(bytes: number): { value: number; unit: string } {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return { value: Math.round((bytes / 1024 ** step) * 100) / 100, unit: UNITS[step]! };
}

function memoryNow(): CompatSystem['memory'] {
  const { total, free, used, available, swapTotal, swapUsed } = machineMemory();
  const swapFree = swapTotal - swapUsed;
  return {
    ram: { total, free, used, available, '%used': percentOf(used, total) },
    swap: { total: swapTotal, free: swapFree, used: swapUsed, '%used': percentOf(swapUsed, swapTotal) },
  };
}

/** Average load of all cores since the machine started. */
function busyPercent(): number {
  const times = cpus().map((core) => core.times);
  const idle = times.reduce((sum, core) => sum + core.idle, 0);
  const all = times.reduce((sum, core) => sum + core.idle + core.user + core.nice + core.sys + core.irq, 0);
  return percentOf(all - idle, all);
}
