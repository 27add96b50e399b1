/**
 * fast-check with a fixed seed, from which every property of a test takes its inputs: the same in every run, so that a
 * test that passed passes again. WEIR_TEST_SEED chooses others, to search for what these do not show.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['WEIR_TEST_SEED'] ?? 1) });

export default fc;
