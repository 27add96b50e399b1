/** HTTP routes of `{api}/simulate`. */
import { SimulateBody, Simulation } from '../../../shared/api/policy/simulate-api.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Simulator } from './simulator.ts';

/** Large, because lists can be sent as text. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;

/** Routes of simulations. */
export function simulateRoutes({ simulator }: { simulator: Pick<Simulator, 'simulate'> }): Route[] {
  return [simulate(simulator)];
}

function simulate(simulator: Pick<Simulator, 'simulate'>): Route {
  return route({
    method: 'POST',
    path: '/simulate',
    access: 'admin',
    tag: 'Lists',
    summary:
      'Show how a draft of lists, rules, services and groups would change the outcome of logged queries; ' +
      'nothing is stored. Active policy and draft are evaluated with the current schedules and client ' +
      'addresses, so only the draft causes differences',
    body: SimulateBody,
    answer: Simulation,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    waits: false,
    handle: ({ body, gone }) => simulator.simulate(body, gone),
  });
}
