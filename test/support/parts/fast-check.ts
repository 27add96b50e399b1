/**
 * fast-check with a fixed seed, so that every property test has the same inputs in each run. WEIR_TEST_SEED sets a
 * different seed, to find more faults.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['WEIR_TEST_SEED'] ?? 1) });

export default fc;
