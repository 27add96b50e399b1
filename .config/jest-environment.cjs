// The environment of the tests: Node's own, which also ends processes that a suite has left running, and behaves like
// production in two respects.
// - `instanceof`: jest gives every suite its own built-in classes, so an error of node:fs or an array from another
// thread would not be an `Error` or `Int32Array` there, unlike in production. Here both kinds are accepted.
// - Speed: jest's global object is a proxy behind an interceptor, so each access to `Math` or `Uint8Array` in a hot
// loop takes two calls. Here it is an ordinary object, also new for each suite, which halves the time of computations.
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
    // The constructor always creates its context from the proxy.
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
