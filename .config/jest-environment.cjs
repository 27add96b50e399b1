// The environment of the tests: Node's own, which ends what a suite leaves running, and agrees with production in two
// things.
// - `instanceof`: jest gives every suite built-in classes of its own, so an error of node:fs or an array from another
//   thread would be no `Error` and no `Int32Array` there, though it is one when Weir runs. Here both kinds count.
// - Speed: jest's global object is a proxy behind an interceptor, so that each `Math` or `Uint8Array` of a hot loop is
//   two calls. Here it is an ordinary one, as new for each suite; the tests that calculate take half the time.
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');
const { children, endOthers } = require('./leftovers.cjs');

const SHARED = [
  'Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError',
  'ArrayBuffer SharedArrayBuffer DataView Date Map Set Promise RegExp',
  'Uint8Array Uint16Array Uint32Array Int8Array Int16Array Int32Array',
  'Float32Array Float64Array BigInt64Array BigUint64Array',
].flatMap((line) => line.split(' '));

const ordinary = Function.prototype[Symbol.hasInstance];

module.exports = class extends TestEnvironment {
  constructor(config, context) {
    const { createContext, constants } = vm;
    // The constructor makes its context from the proxy and lets no one say otherwise.
    vm.createContext = () => createContext(constants.DONT_CONTEXTIFY);
    try {
      super(config, context);
    } finally {
      vm.createContext = createContext;
    }
  }

  async setup() {
    this.known = new Set(children());
    await super.setup();
    for (const name of SHARED) {
      const inside = this.global[name];
      const outside = globalThis[name];
      if (inside === outside) continue;
      Object.defineProperty(inside, Symbol.hasInstance, {
        // Subclasses inherit this; only the class itself has a twin outside.
        value(value) {
          return ordinary.call(this, value) || (this === inside && ordinary.call(outside, value));
        },
      });
    }
  }

  async teardown() {
    await endOthers(this.known);
    await super.teardown();
  }
};
