/** Loaded ahead of a Weir and in each of its threads: koffi has no binary here, as on a machine that it does not know. */
const load = process.dlopen.bind(process);

process.dlopen = (module: object, path: string, ...rest: unknown[]): void => {
  if (path.includes('koffi')) throw new Error(`${path}: cannot be loaded`);
  Reflect.apply(load, process, [module, path, ...rest]);
};
