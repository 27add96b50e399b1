/**
 * Preloaded into a Weir server and each of its threads: makes koffi fail to load, as on a machine for which it has no
 * binary.
 */
const load = process.dlopen.bind(process);

process.dlopen = (module: object, path: string, ...rest: unknown[]): void => {
  if (path.includes('koffi')) throw new Error(`${path}: cannot be loaded`);
  Reflect.apply(load, process, [module, path, ...rest]);
};
